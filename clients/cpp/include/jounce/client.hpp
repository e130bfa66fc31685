// C++ client of the jounce lockstep service: sessions, and participants in lockstep (docs/cpp.md).
//
// Every call throws jounce::Error if it is refused or the connection fails. Values are doubles in the unit and frame of
// the signal table (SI, ISO 8855); time is an integer tick. A Client may be used by many threads, a Participant by one
// at a time.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <variant>
#include <vector>

namespace jounce {

// A refused request: nothing was applied, and the session or stream goes on unless `reason` says otherwise.
struct Error : std::runtime_error {
    // Stable upper-case word for programs; if the connection failed, the gRPC status, for example UNAVAILABLE.
    std::string reason;
    std::string field, given, allowed;
    // Participants that a barrier waited for.
    std::vector<std::string> missing;
    // Tick and epoch that the session expects in the next message.
    std::int64_t expected_tick = 0;
    std::uint64_t expected_epoch = 0;

    // what() combines all texts.
    Error(std::string reason, const std::string& message, std::string field = "", std::string given = "",
          std::string allowed = "", std::vector<std::string> missing = {});
};

struct Session {
    std::string id;
    std::string token;       // allows everything
    std::string join_token;  // allows only to join
    std::string model;
    double tick_seconds = 0.001;
};

// Summary of a session.
struct SessionSummary {
    std::string id, model;
    std::int64_t tick = 0;
    std::vector<std::string> participants;  // joined or expected
    std::uint32_t connected = 0;
    std::string failure;  // why it failed; empty otherwise
};

struct Snapshot {
    std::string id;
    std::int64_t tick = 0;
};

// Outputs at a tick.
struct State {
    std::int64_t tick = 0;    // the clock, and the next due tick
    std::int64_t sim_ns = 0;  // simulated time since tick 0 [ns]
    std::vector<double> outputs;
    std::uint64_t overruns = 0;     // late ticks of a paced session
    std::uint64_t missed = 0;       // due ticks that passed without this participant's inputs
    std::vector<std::string> held;  // participants whose inputs were held or safe values since the previous state
    double time() const { return static_cast<double>(sim_ns) / 1e9; }
};

enum class EventKind { paused = 1, resumed = 2, reset = 3, restored = 4, draining = 8, recording_ended = 9,
                       // Notices, only if Terms::notices requests them.
                       failed = 6, evicted = 10, missed = 11, barrier_timeout = 12 };

struct Event {
    EventKind kind;
    std::uint64_t epoch;
    std::int64_t tick;
    std::string text;                       // of notices: what has happened
    std::vector<std::string> participants;  // of notices: those concerned
};

// What the session does when the participant is late or gone.
enum class Late { block = 1, hold_last = 2, safe_value = 3, fail = 4 };

// How to take part. Times are wall-clock [s]; absent ones are the server's default.
struct Terms {
    std::vector<std::string> owns;   // inputs, scalars or vectors by name
    std::vector<std::string> wants;  // outputs; "*" for all
    std::uint32_t period = 1;        // [ticks]
    std::uint32_t phase = 0;         // [ticks]
    std::vector<std::string> first_order;   // owned inputs, extrapolated along the line through their last two values
    std::optional<double> barrier_timeout;  // time that a step waits for others; 0 = without limit
    Late late = Late::block;
    std::optional<double> late_after;
    std::optional<double> lease;
    std::uint32_t max_age = 0;     // [ticks], for hold_last
    std::vector<double> safe;      // for safe_value, in the order of Participant::inputs
    std::string rejoin;            // token of the lost participant; all else must be as in its first join
    std::vector<EventKind> notices;  // further events: failed, evicted, missed, barrier_timeout
    bool take_over = false;        // replaces a connected participant of that name; needs the session token
};

using Values = std::map<std::string, double>;
using Parameters = std::map<std::string, std::variant<double, std::string>>;

struct SessionOptions {
    Parameters parameters;
    Values start_inputs;
    std::vector<std::string> participants;  // the clock does not move before these have joined
    std::vector<std::string> controllers;   // participants whose token may pause, reset, save, restore and fork
    std::optional<double> pace;             // simulated seconds per wall-clock second; absent = as fast as possible
};

struct ClientOptions {
    double connect_timeout = 10.0;     // [s]
    std::optional<double> call_timeout;  // [s] per unary call, DEADLINE_EXCEEDED after it; absent = none
    std::string ca;      // PEM text of the authorities of the server's certificate; empty = no TLS
    std::string bearer;  // bearer token
    double keepalive = 15.0;  // [s] after which a server that does not answer is taken as gone; 0 = never
};

class Participant;

// A connection to a server at "host:port" or "unix:/path".
class Client {
public:
    // Throws UNAVAILABLE, at once if nobody listens there, or if nobody answers in time.
    explicit Client(const std::string& address, ClientOptions options = {});
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    std::vector<std::string> models();
    Session create_session(const std::string& model, const SessionOptions& options = {});
    void delete_session(const Session& session);
    // The sessions of the client's bearer token; all for an administrator, or if the server has no tokens.
    std::vector<SessionSummary> list_sessions();
    // Removes a participant, connected or gone; with `release` the clock no longer waits for the name.
    void evict(const Session& session, const std::string& name, bool release = false);
    // Sets inputs, advances by exactly `ticks`, and returns outputs, in one call.
    State advance(const Session& session, std::uint32_t ticks, const Values& inputs = {},
                  const std::vector<std::string>& outputs = {});
    std::int64_t pause(const Session& session);
    void resume(const Session& session);
    void reset(const Session& session, const Parameters& parameters = {}, const Values& start_inputs = {});
    Snapshot save(const Session& session);
    void restore(const Session& session, const Snapshot& snapshot);
    Session fork(const Session& session, const Snapshot& snapshot);

    // Joins a session as a participant, which may outlive the client.
    Participant join(const Session& session, const std::string& name, const Terms& terms = {});

private:
    friend class OpenSession;
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

// Deletes a session at the end of its scope: OpenSession session(client, client.create_session("hmmwv"));
// Works for forks as well. The destructor does not throw; a session that it cannot delete ends with its lease.
class OpenSession {
public:
    OpenSession(const Client& client, Session session);
    ~OpenSession();
    OpenSession(OpenSession&&) noexcept = default;
    OpenSession& operator=(OpenSession&&) = delete;

    operator const Session&() const { return session_; }
    const Session* operator->() const { return &session_; }

private:
    std::shared_ptr<Client::Inside> inside_;
    Session session_;
};

// One participant in lockstep. If it is destroyed without `leave`, the session takes it as a lost connection.
class Participant {
public:
    ~Participant();
    Participant(Participant&&) noexcept;
    Participant& operator=(Participant&&) noexcept;

    // Delivers inputs, in the order of `inputs()`, for the due tick; returns the state at the next due tick. After an
    // Error the same step may be repeated, except: after TOO_LATE call sync first; after WRONG_EPOCH the session was
    // reset or restored, and `state` is its present state.
    // `next_tick`, for event-driven partners, is the tick at which to be due next, once, instead of the next tick of
    // the participant's grid.
    const State& step(const std::vector<double>& inputs, std::optional<std::int64_t> next_tick = std::nullopt);
    // Waits until the clock is at the due tick, and returns the state.
    const State& sync();
    // Leaves the session: the clock no longer waits for this participant.
    void leave();

    const std::vector<std::string>& inputs() const;
    const std::vector<std::string>& outputs() const;
    // Values of the owned inputs at the join, or at the last reset or restore.
    const std::vector<double>& start_inputs() const;
    // The last known state.
    const State& state() const;
    std::int64_t due() const;
    const std::vector<Event>& events() const;
    // Secret token to rejoin with, and for the calls of a controller.
    const std::string& token() const;

private:
    friend class Client;
    struct Inside;
    explicit Participant(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace jounce
