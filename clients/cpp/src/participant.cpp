#include "participant.hpp"

#include <utility>

namespace jounce {
namespace {

State read(std::int64_t tick, std::int64_t sim_ns, const google::protobuf::RepeatedField<double>& outputs) {
    State state;
    state.tick = tick;
    state.sim_ns = sim_ns;
    state.outputs.assign(outputs.begin(), outputs.end());
    return state;
}

[[noreturn]] void unexpected() {
    throw Error("UNEXPECTED_REPLY", "the server broke the protocol");
}

}  // namespace

Participant::Inside::~Inside() {
    if (!stream || ended) return;
    context.TryCancel();
    // gRPC requires that a stream is read to its end and finished.
    for (v1::LockstepReply rest; stream->Read(&rest);) {}
    stream->Finish();
}

void Participant::Inside::join(const Session& session, const std::string& name, const Terms& terms) {
    v1::LockstepRequest message;
    v1::Join& join = *message.mutable_join();
    join.set_session_id(session.id);
    join.set_token(session.token.empty() ? session.join_token : session.token);
    join.set_name(name);
    join.mutable_inputs()->Assign(terms.owns.begin(), terms.owns.end());
    join.mutable_outputs()->Assign(terms.wants.begin(), terms.wants.end());
    join.mutable_first_order_inputs()->Assign(terms.first_order.begin(), terms.first_order.end());
    join.set_period_ticks(terms.period);
    join.set_phase_ticks(terms.phase);
    join.set_late(static_cast<v1::LatePolicy>(terms.late));
    join.set_max_age_ticks(terms.max_age);
    join.mutable_safe_values()->Assign(terms.safe.begin(), terms.safe.end());
    join.set_participant_token(terms.rejoin);
    join.set_take_over(terms.take_over);
    for (const EventKind kind : terms.notices) join.add_notices(static_cast<v1::EventKind>(kind));
    if (terms.barrier_timeout) join.set_barrier_timeout(*terms.barrier_timeout);
    if (terms.late_after) join.set_late_after(*terms.late_after);
    if (terms.lease) join.set_lease(*terms.lease);

    stream = stub->Lockstep(&context);
    const v1::LockstepReply reply = ask(message);
    if (!reply.has_joined()) unexpected();
    const v1::Joined& joined = reply.joined();
    inputs.assign(joined.inputs().begin(), joined.inputs().end());
    outputs.assign(joined.outputs().begin(), joined.outputs().end());
    start_inputs.assign(joined.input_values().begin(), joined.input_values().end());
    token = joined.participant_token();
    epoch = joined.epoch();
    due = joined.tick();
    request = joined.request();
    state = read(joined.clock_tick(), joined.sim_ns(), joined.output_values());
}

v1::LockstepReply Participant::Inside::ask(const v1::LockstepRequest& message) {
    if (ended) throw Error("STREAM_ENDED", "the participant has left, or its stream has ended");
    v1::LockstepReply reply;
    // If Write fails, the reason is in the server's last message or in the status.
    stream->Write(message);
    while (true) {
        if (!stream->Read(&reply)) lost();
        if (!reply.has_event()) break;
        note(reply.event());
    }
    if (reply.has_error()) throw from_info(reply.error());
    return reply;
}

const State& Participant::Inside::state_after(const v1::LockstepRequest& message) {
    const v1::LockstepReply reply = ask(message);
    if (!reply.has_state()) unexpected();
    const v1::State& wire = reply.state();
    epoch = wire.epoch();
    due = wire.tick();
    request = wire.request();
    state = read(wire.tick(), wire.sim_ns(), wire.outputs());
    state.overruns = wire.overruns();
    state.missed = wire.missed();
    state.held.assign(wire.held().begin(), wire.held().end());
    return state;
}

void Participant::Inside::note(const v1::Event& event) {
    events.push_back({static_cast<EventKind>(event.kind()), event.epoch(), event.tick(), event.text(),
                      {event.participants().begin(), event.participants().end()}});
    if (event.epoch() == epoch) return;
    epoch = event.epoch();
    due = event.due_tick();
    request = 0;
    start_inputs.assign(event.inputs().begin(), event.inputs().end());
    state = read(event.tick(), event.sim_ns(), event.outputs());
}

void Participant::Inside::lost() {
    ended = true;
    const grpc::Status status = stream->Finish();
    if (status.ok()) throw Error("STREAM_ENDED", "the server has ended the stream");
    throw from_status(status, context);
}

Participant::Participant(std::unique_ptr<Inside> inside) : inside_(std::move(inside)) {}
Participant::~Participant() = default;
Participant::Participant(Participant&&) noexcept = default;
Participant& Participant::operator=(Participant&&) noexcept = default;

const State& Participant::step(const std::vector<double>& inputs, std::optional<std::int64_t> next_tick) {
    if (inputs.size() != inside_->inputs.size())
        throw Error("WRONG_LENGTH", "inputs must be in the order of Participant::inputs", "inputs",
                    std::to_string(inputs.size()), std::to_string(inside_->inputs.size()));
    v1::LockstepRequest message;
    v1::Step& step = *message.mutable_step();
    step.set_epoch(inside_->epoch);
    step.set_tick(inside_->due);
    step.set_request(inside_->request + 1);
    step.mutable_inputs()->Assign(inputs.begin(), inputs.end());
    if (next_tick) step.set_next_tick(*next_tick);
    return inside_->state_after(message);
}

const State& Participant::sync() {
    v1::LockstepRequest message;
    message.mutable_sync();
    return inside_->state_after(message);
}

void Participant::leave() {
    v1::LockstepRequest message;
    message.mutable_leave();
    if (!inside_->ask(message).has_left()) unexpected();
    inside_->stream->WritesDone();
    inside_->ended = true;
    inside_->stream->Finish();
}

const std::vector<std::string>& Participant::inputs() const { return inside_->inputs; }
const std::vector<std::string>& Participant::outputs() const { return inside_->outputs; }
const std::vector<double>& Participant::start_inputs() const { return inside_->start_inputs; }
const State& Participant::state() const { return inside_->state; }
std::int64_t Participant::due() const { return inside_->due; }
const std::vector<Event>& Participant::events() const { return inside_->events; }
const std::string& Participant::token() const { return inside_->token; }

}  // namespace jounce
