// grpc_loop ADDRESS SESSION TOKEN NAME INPUT...: reads a count, steps so often, prints when each step began and ended
// [ns, CLOCK_MONOTONIC].
#include <chrono>
#include <cstdio>

#include "jounce/client.hpp"

static double now() {
    using std::chrono::steady_clock;
    return std::chrono::duration<double, std::nano>(steady_clock::now().time_since_epoch()).count();
}

int main(int argc, char** argv) try {
    if (argc < 6) return 2;
    jounce::Client client(argv[1]);
    jounce::Session session;
    session.id = argv[2];
    session.join_token = argv[3];
    jounce::Terms terms;
    terms.owns.assign(argv + 5, argv + argc);
    terms.wants = {"*"};
    jounce::Participant bench = client.join(session, argv[4], terms);
    const std::vector<double> inputs(bench.inputs().size());
    for (int n = 0; std::scanf("%d", &n) == 1;) {
        std::vector<double> times;
        for (int k = 0; k < n; k++) {
            times.push_back(now());
            bench.step(inputs);
            times.push_back(now());
        }
        for (std::size_t k = 0; k < times.size(); k += 2) std::printf("%.0f %.0f\n", times[k], times[k + 1]);
        std::fflush(stdout);
    }
    bench.leave();
} catch (const jounce::Error& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}
