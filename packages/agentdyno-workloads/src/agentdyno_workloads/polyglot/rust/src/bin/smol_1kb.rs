fn main() {
    polyglot_agents::serve(polyglot_agents::runtimes::smol_executor::SMOL_1KB, 8);
}
