// grpc_loop ADDRESS SESSION TOKEN INPUT...: reads a count, steps so often, prints the time of each step [ns].
#include <chrono>
#include <cstdio>

#include "jounce/client.hpp"

int main(int argc, char** argv) try {
    if (argc < 5) return 2;
    jounce::Client client(argv[1]);
    jounce::Session session;
    session.id = argv[2];
    session.join_token = argv[3];
    jounce::Terms terms;
    terms.owns.assign(argv + 4, argv + argc);
    terms.wants = {"*"};
    jounce::Participant bench = client.join(session, "bench", terms);
    const std::vector<double> inputs(bench.inputs().size());
    for (int n = 0; std::scanf("%d", &n) == 1;) {
        std::vector<double> times;
        for (int k = 0; k < n; k++) {
            const auto start = std::chrono::steady_clock::now();
            bench.step(inputs);
            times.push_back(std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
        }
        for (const double time : times) std::printf("%.0f\n", time);
        std::fflush(stdout);
    }
    bench.leave();
} catch (const jounce::Error& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}
