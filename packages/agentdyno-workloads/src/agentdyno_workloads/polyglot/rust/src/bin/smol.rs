fn main() {
    polyglot_agents::serve(polyglot_agents::runtimes::smol_executor::SMOL, 8);
}
