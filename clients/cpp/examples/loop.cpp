// A lockstep loop: loop ADDRESS MODEL INPUT STEPS. Prints every output, to the last bit, at every due tick.
#include <cstdio>
#include <cstdlib>

#include "jounce/client.hpp"

int main(int argc, char** argv) try {
    if (argc != 5) return std::fprintf(stderr, "usage: loop ADDRESS MODEL INPUT STEPS\n"), 2;
    jounce::Client client(argv[1]);
    const jounce::OpenSession session(client, client.create_session(argv[2]));

    jounce::Terms terms;
    terms.owns = {argv[3]};
    terms.wants = {"*"};
    jounce::Participant pilot = client.join(session, "pilot", terms);

    std::vector<double> inputs(pilot.inputs().size());
    for (int k = 0; k < std::atoi(argv[4]); k++) {
        for (std::size_t i = 0; i < inputs.size(); i++) inputs[i] = 0.01 * k + 0.1 * static_cast<double>(i);
        const jounce::State& state = pilot.step(inputs);
        std::printf("%lld", static_cast<long long>(state.tick));
        for (const double value : state.outputs) std::printf(" %a", value);
        std::printf("\n");
    }
    pilot.leave();
} catch (const jounce::Error& error) {
    return std::fprintf(stderr, "%s\n", error.what()), 1;
}
