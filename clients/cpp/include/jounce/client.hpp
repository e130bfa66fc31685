// C++ client of the jounce lockstep service: sessions, and participants in lockstep (docs/cpp.md).
//
// Every call throws jounce::Error where it is refused or the connection fails. Values are doubles in the unit and frame
// of the signal table (SI, ISO 8855); time is an integer tick. A Client may be used by many threads, a Participant by
// one at a time.
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

// A refused request: nothing was applied, and the session or stream lives on unless `reason` says otherwise.
struct Error : std::runtime_error {
    // Stable upper-case word to decide on; where the connection failed, the gRPC status, for example UNAVAILABLE.
    std::string reason;
    std::string field, given, allowed;
    // Participants that a barrier waited for.
    std::vector<std::string> missing;
    // Where the session expects the sender.
    std::int64_t expected_tick = 0;
    std::uint64_t expected_epoch = 0;

    // what() is made of all of it.
    Error(std::string reason, const std::string& message, std::string field = "", std::string given = "",
          std::string allowed = "", std::vector<std::string> missing = {});
};

struct Session {
    std::string id;
    std::string token;       // may do everything
    std::string join_token;  // may join
    std::string model;
    double tick_seconds = 0.001;
};

// A session in short.
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
    std::vector<std::string> held;  // whose inputs were held or safe since the state before
    double time() const { return static_cast<double>(sim_ns) * 1e-9; }
};

enum class EventKind { paused = 1, resumed = 2, reset = 3, restored = 4, draining = 8, recording_ended = 9,
                       // Notices, only where Terms::notices asks for them.
                       failed = 6, evicted = 10, missed = 11, barrier_timeout = 12 };

struct Event {
    EventKind kind;
    std::uint64_t epoch;
    std::int64_t tick;
    std::string text;                       // of notices: what has happened
    std::vector<std::string> participants;  // and to whom, or because of whom
};

// What the session does when the participant is late or gone.
enum class Late { block = 1, hold_last = 2, safe_value = 3, fail = 4 };

// How to take part; times are wall-clock [s], and where they are absent the server's default.
struct Terms {
    std::vector<std::string> owns;   // inputs, scalars or vectors by name
    std::vector<std::string> wants;  // outputs; "*" for all
    std::uint32_t period = 1;        // [ticks]
    std::uint32_t phase = 0;         // [ticks]
    std::vector<std::string> first_order;   // owned inputs that go on along the line through their last two values
    std::optional<double> barrier_timeout;  // how long a step waits for the others; 0 = for ever
    Late late = Late::block;
    std::optional<double> late_after;
    std::optional<double> lease;
    std::uint32_t max_age = 0;     // [ticks], for hold_last
    std::vector<double> safe;      // for safe_value, in the order of Participant::inputs
    std::string rejoin;            // token of the participant that was lost, with all else as in its first join
    std::vector<EventKind> notices;  // further events to note: failed, evicted, missed, barrier_timeout
    bool take_over = false;        // from a participant of that name that is still connected; needs the session token
};

using Values = std::map<std::string, double>;
using Parameters = std::map<std::string, std::variant<double, std::string>>;

struct SessionOptions {
    Parameters parameters;
    Values start_inputs;
    std::vector<std::string> participants;  // without whom the clock does not move
    std::vector<std::string> controllers;   // whose own token may pause, reset, save, restore and fork
    std::optional<double> pace;             // simulated seconds per wall-clock second; absent = free
};

struct ClientOptions {
    double connect_timeout = 10.0;     // [s]
    std::optional<double> call_timeout;  // [s] per unary call, DEADLINE_EXCEEDED after it; absent = none
    std::string ca;      // PEM text of the authorities of the server's certificate; empty = no TLS
    std::string bearer;  // bearer token
    double keepalive = 15.0;  // [s] after which a server that gives no sign of life is gone; 0 = it is never asked
};

class Participant;

// A connection to a server at "host:port" or "unix:/path".
class Client {
public:
    // UNAVAILABLE, at once where nobody listens, or if nobody answers in time.
    explicit Client(const std::string& address, ClientOptions options = {});
    ~Client();
    Client(Client&&) noexcept;
    Client& operator=(Client&&) noexcept;

    std::vector<std::string> models();
    Session create_session(const std::string& model, const SessionOptions& options = {});
    void delete_session(const Session& session);
    // The sessions of the client's bearer token; all for an administrator, or where the server has no tokens.
    std::vector<SessionSummary> list_sessions();
    // Takes a participant out, connected or gone; `release`: the clock does not wait for the name any more.
    void evict(const Session& session, const std::string& name, bool release = false);
    // Sets inputs, advances exactly `ticks`, gets outputs, in one call.
    State advance(const Session& session, std::uint32_t ticks, const Values& inputs = {},
                  const std::vector<std::string>& outputs = {});
    std::int64_t pause(const Session& session);
    void resume(const Session& session);
    void reset(const Session& session, const Parameters& parameters = {}, const Values& start_inputs = {});
    Snapshot save(const Session& session);
    void restore(const Session& session, const Snapshot& snapshot);
    Session fork(const Session& session, const Snapshot& snapshot);

    // Takes part in lockstep; the participant may outlive the client.
    Participant join(const Session& session, const std::string& name, const Terms& terms = {});

private:
    friend class OpenSession;
    struct Inside;
    std::shared_ptr<Inside> inside_;
};

// Deletes a session at the end of its scope: OpenSession session(client, client.create_session("hmmwv"));
// Works for forks as well. The destructor throws nothing: what it could not delete ends with the server's session lease.
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

// One participant in lockstep. Destruction without `leave` is a lost connection to the session.
class Participant {
public:
    ~Participant();
    Participant(Participant&&) noexcept;
    Participant& operator=(Participant&&) noexcept;

    // Delivers inputs, in the order of `inputs()`, for the due tick; the state at the next due tick. After an Error
    // the same step may be repeated, except that TOO_LATE wants a sync first, and WRONG_EPOCH means that the session
    // was reset or restored: `state` is where it stands.
    // `next_tick`, for partners driven by events: the tick at which to be due next, in place of the next one of the
    // participant's grid; it counts once.
    const State& step(const std::vector<double>& inputs, std::optional<std::int64_t> next_tick = std::nullopt);
    // The state at the due tick, once the clock is there.
    const State& sync();
    // Leaves in an orderly way: the clock no longer waits.
    void leave();

    const std::vector<std::string>& inputs() const;
    const std::vector<std::string>& outputs() const;
    // Values of the owned inputs at the join, or at the last reset or restore.
    const std::vector<double>& start_inputs() const;
    // The last state known.
    const State& state() const;
    std::int64_t due() const;
    const std::vector<Event>& events() const;
    // To rejoin with, and for the calls of a controller.
    const std::string& token() const;

private:
    friend class Client;
    struct Inside;
    explicit Participant(std::unique_ptr<Inside> inside);
    std::unique_ptr<Inside> inside_;
};

}  // namespace jounce
