#include <algorithm>
#include <array>
#include <chrono>
#include <limits>
#include <utility>

#include "participant.hpp"
#include "wire.hpp"

namespace jounce {
namespace {

// Trailing metadata key of the serialised ErrorInfo on unary calls (jounce.proto, head comment).
constexpr const char* metadata_key = "jounce-error-bin";
constexpr int most_bytes = 64 << 20;

std::string text_of(const std::string& reason, const std::string& message, const std::string& field,
                    const std::string& given, const std::string& allowed, const std::vector<std::string>& missing) {
    std::string text = reason + ": " + message;
    for (const auto& [label, value] : {std::pair{"field", field}, {"given", given}, {"expected", allowed}})
        if (!value.empty()) text += std::string("; ") + label + " " + value;
    for (std::size_t i = 0; i < missing.size(); i++) text += (i ? ", " : "; missing ") + missing[i];
    return text;
}

std::string name_of(grpc::StatusCode code) {
    static const std::array<const char*, 17> names = {
        "OK", "CANCELLED", "UNKNOWN", "INVALID_ARGUMENT", "DEADLINE_EXCEEDED", "NOT_FOUND", "ALREADY_EXISTS",
        "PERMISSION_DENIED", "RESOURCE_EXHAUSTED", "FAILED_PRECONDITION", "ABORTED", "OUT_OF_RANGE", "UNIMPLEMENTED",
        "INTERNAL", "UNAVAILABLE", "DATA_LOSS", "UNAUTHENTICATED"};
    const auto place = static_cast<std::size_t>(code);
    return place < names.size() ? names[place] : "UNKNOWN";
}

std::chrono::system_clock::time_point in(double seconds) {
    return std::chrono::system_clock::now() +
           std::chrono::duration_cast<std::chrono::system_clock::duration>(std::chrono::duration<double>(seconds));
}

void fill(google::protobuf::Map<std::string, v1::Value>& wire, const Parameters& parameters) {
    for (const auto& [name, value] : parameters) {
        if (const auto* number = std::get_if<double>(&value)) wire[name].set_number(*number);
        else wire[name].set_text(std::get<std::string>(value));
    }
}

// jounce_proto/keepalive.py, in C++.
void keep_alive(grpc::ChannelArguments& arguments, double seconds) {
    const auto part = [seconds](double share) {
        return seconds > 0.0 ? std::max(1, static_cast<int>(seconds * share * 1e3)) : std::numeric_limits<int>::max();
    };
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIME_MS, part(1.0 / 3.0));
    arguments.SetInt(GRPC_ARG_KEEPALIVE_TIMEOUT_MS, part(2.0 / 3.0));
    arguments.SetInt("grpc.http2.ping_timeout_ms", part(1.0));
    arguments.SetInt(GRPC_ARG_HTTP2_MAX_PINGS_WITHOUT_DATA, 0);
}

template <class Request>
Request named(const Session& session) {
    Request request;
    request.set_session_id(session.id);
    request.set_token(session.token);
    return request;
}

Session opened(const v1::CreateSessionResponse& reply, const std::string& model) {
    return {reply.session_id(), reply.token(), reply.join_token(), model, reply.tick_seconds()};
}

}  // namespace

Error::Error(std::string reason, const std::string& message, std::string field, std::string given, std::string allowed,
             std::vector<std::string> missing)
    : std::runtime_error(text_of(reason, message, field, given, allowed, missing)), reason(std::move(reason)),
      field(std::move(field)), given(std::move(given)), allowed(std::move(allowed)), missing(std::move(missing)) {}

Error from_info(const v1::ErrorInfo& info) {
    Error error(info.reason(), info.message(), info.field(), info.given(), info.allowed(),
                {info.missing().begin(), info.missing().end()});
    error.expected_tick = info.expected_tick();
    error.expected_epoch = info.expected_epoch();
    return error;
}

Error from_status(const grpc::Status& status, const grpc::ClientContext& context) {
    const auto& metadata = context.GetServerTrailingMetadata();
    v1::ErrorInfo info;
    const auto found = metadata.find(metadata_key);
    if (found != metadata.end() && info.ParseFromArray(found->second.data(), static_cast<int>(found->second.size())))
        return from_info(info);
    return Error(name_of(status.error_code()), status.error_message());
}

struct Client::Inside {
    ClientOptions options;
    std::shared_ptr<Stub> stub;

    void prepare(grpc::ClientContext& context) const {
        if (!options.bearer.empty()) context.AddMetadata("authorization", "Bearer " + options.bearer);
    }

    template <class Request, class Reply>
    Reply call(grpc::Status (Stub::*method)(grpc::ClientContext*, const Request&, Reply*),
               const Request& request) const {
        grpc::ClientContext context;
        prepare(context);
        if (options.call_timeout) context.set_deadline(in(*options.call_timeout));
        Reply reply;
        const grpc::Status status = (stub.get()->*method)(&context, request, &reply);
        if (!status.ok()) throw from_status(status, context);
        return reply;
    }
};

Client::Client(const std::string& address, ClientOptions options) : inside_(std::make_shared<Inside>()) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(most_bytes);
    // Without sharing: a connection shared with other clients would, after a failure, refuse for minutes.
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    keep_alive(arguments, options.keepalive);
    auto credentials = grpc::InsecureChannelCredentials();
    if (!options.ca.empty()) credentials = grpc::SslCredentials({options.ca, "", ""});
    const auto channel = grpc::CreateCustomChannel(address, credentials, arguments);
    const auto end = in(options.connect_timeout);
    auto state = channel->GetState(true);
    while (state != GRPC_CHANNEL_READY && state != GRPC_CHANNEL_TRANSIENT_FAILURE &&
           channel->WaitForStateChange(state, end))
        state = channel->GetState(true);
    if (state != GRPC_CHANNEL_READY) {
        // A call without wait_for_ready tells the reason.
        grpc::ClientContext context;
        context.set_deadline(in(1.0));
        v1::ListModelsResponse reply;
        const auto status = v1::SessionService::NewStub(channel)->ListModels(&context, {}, &reply);
        const bool silent = state != GRPC_CHANNEL_TRANSIENT_FAILURE || status.error_message().empty();
        throw Error("UNAVAILABLE", silent ? "nobody answers" : status.error_message(), "address", address,
                    "host:port or unix:/path of a jounce server");
    }
    inside_->options = std::move(options);
    inside_->stub = v1::SessionService::NewStub(channel);
}

Client::~Client() = default;
Client::Client(Client&&) noexcept = default;
Client& Client::operator=(Client&&) noexcept = default;

std::vector<std::string> Client::models() {
    std::vector<std::string> names;
    const auto reply = inside_->call(&Stub::ListModels, v1::ListModelsRequest());
    for (const auto& model : reply.models())
        names.push_back(model.name());
    return names;
}

Session Client::create_session(const std::string& model, const SessionOptions& options) {
    v1::CreateSessionRequest request;
    request.set_model(model);
    fill(*request.mutable_parameters(), options.parameters);
    request.mutable_start_inputs()->insert(options.start_inputs.begin(), options.start_inputs.end());
    request.mutable_expected_participants()->Assign(options.participants.begin(), options.participants.end());
    request.mutable_controllers()->Assign(options.controllers.begin(), options.controllers.end());
    if (options.pace) {
        request.mutable_pacing()->set_mode(v1::PACING_MODE_REALTIME);
        request.mutable_pacing()->set_factor(*options.pace);
    }
    return opened(inside_->call(&Stub::CreateSession, request), model);
}

void Client::delete_session(const Session& session) {
    inside_->call(&Stub::DeleteSession, named<v1::DeleteSessionRequest>(session));
}

std::vector<SessionSummary> Client::list_sessions() {
    std::vector<SessionSummary> found;
    const auto reply = inside_->call(&Stub::ListSessions, v1::ListSessionsRequest());
    for (const auto& s : reply.sessions())
        found.push_back({s.session_id(), s.model(), s.tick(), {s.participants().begin(), s.participants().end()},
                         s.connected(), s.failure()});
    return found;
}

void Client::evict(const Session& session, const std::string& name, bool release) {
    auto request = named<v1::EvictParticipantRequest>(session);
    request.set_name(name);
    request.set_release(release);
    inside_->call(&Stub::EvictParticipant, request);
}

State Client::advance(const Session& session, std::uint32_t ticks, const Values& inputs,
                      const std::vector<std::string>& outputs) {
    auto request = named<v1::AdvanceRequest>(session);
    request.set_n_ticks(ticks);
    for (const auto& [name, value] : inputs) {
        request.add_input_names(name);
        request.add_inputs(value);
    }
    request.mutable_output_names()->Assign(outputs.begin(), outputs.end());
    const auto reply = inside_->call(&Stub::Advance, request);
    State state;
    state.tick = reply.tick();
    state.sim_ns = reply.sim_ns();
    state.outputs.assign(reply.outputs().begin(), reply.outputs().end());
    return state;
}

std::int64_t Client::pause(const Session& session) {
    return inside_->call(&Stub::PauseSession, named<v1::PauseSessionRequest>(session)).tick();
}

void Client::resume(const Session& session) {
    inside_->call(&Stub::ResumeSession, named<v1::ResumeSessionRequest>(session));
}

void Client::reset(const Session& session, const Parameters& parameters, const Values& start_inputs) {
    auto request = named<v1::ResetSessionRequest>(session);
    fill(*request.mutable_parameters(), parameters);
    request.mutable_start_inputs()->insert(start_inputs.begin(), start_inputs.end());
    inside_->call(&Stub::ResetSession, request);
}

Snapshot Client::save(const Session& session) {
    const auto reply = inside_->call(&Stub::SaveSnapshot, named<v1::SaveSnapshotRequest>(session));
    return {reply.snapshot_id(), reply.tick()};
}

void Client::restore(const Session& session, const Snapshot& snapshot) {
    auto request = named<v1::RestoreSnapshotRequest>(session);
    request.set_snapshot_id(snapshot.id);
    inside_->call(&Stub::RestoreSnapshot, request);
}

Session Client::fork(const Session& session, const Snapshot& snapshot) {
    auto request = named<v1::ForkSessionRequest>(session);
    request.set_snapshot_id(snapshot.id);
    return opened(inside_->call(&Stub::ForkSession, request), session.model);
}

OpenSession::OpenSession(const Client& client, Session session)
    : inside_(client.inside_), session_(std::move(session)) {}

OpenSession::~OpenSession() {
    if (!inside_) return;  // was moved from
    try {
        inside_->call(&Stub::DeleteSession, named<v1::DeleteSessionRequest>(session_));
    } catch (const std::exception&) {
    }
}

Participant Client::join(const Session& session, const std::string& name, const Terms& terms) {
    auto line = std::make_unique<Participant::Inside>(inside_->stub);
    inside_->prepare(line->context);
    line->join(session, name, terms);
    return Participant(std::move(line));
}

}  // namespace jounce
