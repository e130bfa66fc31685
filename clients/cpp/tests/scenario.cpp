// What the client must do, against a server with the integrator of the service's tests; run by test_cpp_client.py.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

#include "jounce/client.hpp"

namespace {

using jounce::Client, jounce::Participant, jounce::Session, jounce::State, jounce::Terms;

void require(bool good, const char* what) {
    if (!good) throw std::logic_error(what);
}
#define REQUIRE(condition) require((condition), #condition)

// The refusal that a call must end with.
jounce::Error refused(const std::string& reason, const std::function<void()>& call) {
    try {
        call();
    } catch (const jounce::Error& error) {
        if (error.reason == reason) return error;
        throw std::logic_error("refused, but not with " + reason + ": " + error.what());
    }
    throw std::logic_error("not refused with " + reason);
}

Terms forces() {
    Terms terms;
    terms.owns = {"force"};
    terms.wants = {"*"};
    terms.barrier_timeout = 20.0;
    return terms;
}

void refusals_name_what_was_wrong_and_the_same_step_may_be_repeated(Client& client) {
    REQUIRE(refused("UNKNOWN_MODEL", [&] { client.create_session("none"); }).field == "model");
    REQUIRE(refused("INPUT_OUT_OF_RANGE", [&] { client.create_session("integrator", {{{"gain", 9.0}}, {}, {}, {}, {}}); })
                .field == "gain");
    const Session session = client.create_session("integrator", {{{"gain", 3.0}, {"mode", "FAST"}}, {}, {}, {}, {}});
    Participant a = client.join(session, "a", forces());
    REQUIRE(a.inputs() == std::vector<std::string>{"force"} && a.outputs().size() == 5 && a.start_inputs()[0] == 0.5);
    const auto error = refused("INPUT_OUT_OF_RANGE", [&] { a.step({100.5}); });
    REQUIRE(error.field == "force" && error.given == "100.5");
    REQUIRE(std::string(error.what()).find("INPUT_OUT_OF_RANGE: ") == 0);
    REQUIRE(std::string(error.what()).find("; given 100.5; expected ") != std::string::npos);
    refused("NOT_FINITE", [&] { a.step({NAN}); });
    refused("WRONG_LENGTH", [&] { a.step({1.0, 2.0}); });
    REQUIRE(a.step({2.0}).tick == 1 && a.state().outputs[2] == 6.0 && a.state().sim_ns == 1000000);
    refused("NAME_TAKEN", [&] { client.join(session, "a", forces()); });
    refused("PARTICIPANTS_PRESENT", [&] { client.advance(session, 1); });
    a.leave();
    refused("STREAM_ENDED", [&] { a.step({2.0}); });
    REQUIRE(client.advance(session, 3, {{"force", 1.0}}, {"reaction", "tick_count"}).outputs == std::vector({3.0, 4.0}));
    client.delete_session(session);
    refused("UNKNOWN_SESSION", [&] { client.pause(session); });
}

void a_barrier_that_times_out_names_who_is_missing(Client& client) {
    const Session session = client.create_session("integrator", {{}, {}, {"a", "b"}, {}, {}});
    Terms hasty = forces();
    hasty.barrier_timeout = 0.1;
    hasty.notices = {jounce::EventKind::barrier_timeout};
    Participant a = client.join(session, "a", hasty);
    const auto error = refused("BARRIER_TIMEOUT", [&] { a.step({3.0}); });
    REQUIRE(error.missing == std::vector<std::string>{"b"});
    REQUIRE(a.events().size() == 1 && a.events()[0].kind == jounce::EventKind::barrier_timeout);
    REQUIRE(a.events()[0].participants == error.missing && a.events()[0].tick == 0);
    REQUIRE(std::string(error.what()).find("; missing b") != std::string::npos);
    Participant b = client.join(session, "b");
    std::thread other([&] { b.step({}); });
    const bool moved = a.step({3.0}).tick == 1;
    other.join();
    REQUIRE(moved && a.state().outputs[2] == 6.0);
}

void a_step_may_say_when_its_participant_is_due_next(Client& client) {
    const Session session = client.create_session("integrator");
    Terms terms = forces();
    terms.period = 20;
    Participant a = client.join(session, "a", terms);
    REQUIRE(a.step({1.0}, 33).tick == 33 && a.due() == 33);
    for (const std::int64_t wrong : {33, 0, -1}) {
        const auto error = refused("BAD_FIELD", [&] { a.step({1.0}, wrong); });
        REQUIRE(error.field == "next_tick" && error.given == std::to_string(wrong));
    }
    REQUIRE(a.step({1.0}).tick == 40);
}

void pauses_resets_and_restores_are_told_and_obeyed(Client& client) {
    const Session session = client.create_session("integrator");
    Participant a = client.join(session, "a", forces());
    a.step({1.0});
    const jounce::Snapshot snapshot = client.save(session);
    const double future = State(a.step({2.0})).outputs[3];
    REQUIRE(client.pause(session) == 2);
    client.resume(session);
    client.restore(session, snapshot);
    refused("WRONG_EPOCH", [&] { a.step({2.0}); });
    REQUIRE(a.due() == 1 && a.state().tick == 1 && a.start_inputs()[0] == 1.0);
    REQUIRE(a.step({2.0}).outputs[3] == future);
    const Session branch = client.fork(session, snapshot);
    REQUIRE(client.advance(branch, 1, {{"force", 2.0}}, {"mixed"}).outputs[0] == future);
    client.reset(session, {{"gain", 5.0}}, {{"force", 7.0}});
    refused("WRONG_EPOCH", [&] { a.step({2.0}); });
    REQUIRE(a.due() == 0 && a.start_inputs()[0] == 7.0 && a.step({2.0}).outputs[2] == 10.0);
    std::vector<jounce::EventKind> kinds;
    for (const auto& event : a.events()) kinds.push_back(event.kind);
    using jounce::EventKind;
    REQUIRE((kinds == std::vector{EventKind::paused, EventKind::resumed, EventKind::restored, EventKind::reset}));
}

void a_participant_that_was_lost_comes_back_with_its_token(Client& client) {
    const Session session = client.create_session("integrator");
    Terms terms = forces();
    terms.late = jounce::Late::safe_value;
    terms.safe = {9.0};
    terms.late_after = 0.2;
    Participant b = client.join(session, "b", [] { Terms t; t.wants = {"reaction"}; t.barrier_timeout = 20.0; return t; }());
    {
        Participant a = client.join(session, "a", terms);
        terms.rejoin = a.token();
    }
    for (int k = 0; k < 3; k++) REQUIRE(b.step({}).outputs[0] == 18.0);
    REQUIRE(b.state().held == std::vector<std::string>{"a"});
    Participant again = client.join(session, "a", terms);
    b.leave();
    REQUIRE(again.sync().tick == 3 && again.state().missed == 3);
    REQUIRE(again.step({1.0}).outputs[2] == 2.0);
}

void a_call_that_takes_longer_than_its_deadline_says_so(const std::string& address) {
    jounce::ClientOptions options;
    options.call_timeout = 0.2;
    Client hasty(address, options);
    const Session session = hasty.create_session("integrator", {{{"sleep", 1.0}}, {}, {}, {}, {}});
    REQUIRE(std::string(refused("DEADLINE_EXCEEDED", [&] { hasty.advance(session, 1); }).what()).size() > 20);
}

void nobody_at_the_address_is_said_with_the_address() {
    jounce::ClientOptions options;
    options.connect_timeout = 0.2;
    const auto error = refused("UNAVAILABLE", [&] { Client("unix:/no/such/socket", options); });
    REQUIRE(error.given == "unix:/no/such/socket");
}

void an_open_session_is_deleted_at_the_end_of_its_scope(Client& client) {
    std::string id, token;
    const auto gone = [&] { refused("UNKNOWN_SESSION", [&] { client.pause({id, token, "", "", 0.001}); }); };
    try {
        const jounce::OpenSession session(client, client.create_session("integrator"));
        id = session->id, token = session->token;
        REQUIRE(client.advance(session, 2).tick == 2);
        const jounce::OpenSession fork(client, client.fork(session, client.save(session)));
        REQUIRE(client.advance(fork, 1).tick == 3);
        client.delete_session(fork);  // too early is no error
        throw std::runtime_error("left by an exception");
    } catch (const std::runtime_error& error) {
        REQUIRE(std::string(error.what()) == "left by an exception");
    }
    gone();
    {
        jounce::OpenSession first(client, client.create_session("integrator"));
        const jounce::OpenSession second(std::move(first));
        id = second->id, token = second->token;
        REQUIRE(client.advance(second, 1).tick == 1);
    }
    gone();
}

void tls_and_a_bearer_token_let_in_and_nothing_less_does(const std::string& address, const char* ca,
                                                         const std::string& bearer) {
    std::ostringstream text;
    text << std::ifstream(ca).rdbuf();
    jounce::ClientOptions options;
    options.connect_timeout = 5.0;
    options.ca = text.str();
    refused("NOT_AUTHENTICATED", [&] { Client(address, options).models(); });
    options.bearer = bearer;
    Client client(address, options);
    const Session session = client.create_session("integrator");
    Participant a = client.join(session, "a", forces());
    REQUIRE(a.step({2.0}).outputs[2] == 4.0);
    options.connect_timeout = 0.3;
    options.ca = "";
    refused("UNAVAILABLE", [&] { Client(address, options).models(); });
}

}  // namespace

int main(int argc, char** argv) try {
    require(argc == 2 || argc == 4, "usage: scenario ADDRESS [CA-FILE BEARER-TOKEN]");
    if (argc == 4) {
        tls_and_a_bearer_token_let_in_and_nothing_less_does(argv[1], argv[2], argv[3]);
        std::printf("all good\n");
        return 0;
    }
    Client client(argv[1]);
    REQUIRE(client.models() == std::vector<std::string>{"integrator"});
    refusals_name_what_was_wrong_and_the_same_step_may_be_repeated(client);
    a_barrier_that_times_out_names_who_is_missing(client);
    a_step_may_say_when_its_participant_is_due_next(client);
    pauses_resets_and_restores_are_told_and_obeyed(client);
    a_participant_that_was_lost_comes_back_with_its_token(client);
    an_open_session_is_deleted_at_the_end_of_its_scope(client);
    a_call_that_takes_longer_than_its_deadline_says_so(argv[1]);
    nobody_at_the_address_is_said_with_the_address();
    std::printf("all good\n");
} catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
}
