// A participant's stream and its state.
#pragma once

#include "wire.hpp"

namespace jounce {

struct Participant::Inside {
    explicit Inside(std::shared_ptr<Stub> stub) : stub(std::move(stub)) {}
    ~Inside();

    // Opens the stream and joins over it.
    void join(const Session& session, const std::string& name, const Terms& terms);
    // The reply to a request; events before it are noted and applied.
    v1::LockstepReply ask(const v1::LockstepRequest& request);
    // The state in the reply to a request.
    const State& state_after(const v1::LockstepRequest& request);
    void note(const v1::Event& event);
    // Ends the stream and throws the reason for which it ended.
    [[noreturn]] void lost();

    std::shared_ptr<Stub> stub;
    grpc::ClientContext context;
    std::unique_ptr<grpc::ClientReaderWriter<v1::LockstepRequest, v1::LockstepReply>> stream;
    bool ended = false;

    std::vector<std::string> inputs, outputs;
    std::vector<double> start_inputs;
    std::string token;
    std::vector<Event> events;
    State state;
    std::uint64_t epoch = 0;
    std::int64_t due = 0;
    std::uint64_t request = 0;
};

}  // namespace jounce
