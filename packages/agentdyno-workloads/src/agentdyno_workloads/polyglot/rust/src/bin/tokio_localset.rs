fn main() {
    polyglot_agents::serve(polyglot_agents::runtimes::tokio_pool::TokioLocalSet, 8);
}
