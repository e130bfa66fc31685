// Code that the client and its participants share: stubs, and errors of the wire.
#pragma once

#include <grpcpp/grpcpp.h>

#include <memory>
#include <string>

#include "jounce/client.hpp"
#include "jounce/v1/jounce.grpc.pb.h"

namespace jounce {

using Stub = v1::SessionService::Stub;

// The exception for an ErrorInfo of the wire.
Error from_info(const v1::ErrorInfo& info);

// The exception for a failed call; reads the ErrorInfo of its trailing metadata if there is one.
Error from_status(const grpc::Status& status, const grpc::ClientContext& context);

}  // namespace jounce
