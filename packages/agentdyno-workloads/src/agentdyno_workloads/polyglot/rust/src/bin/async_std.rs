fn main() {
    polyglot_agents::serve(polyglot_agents::runtimes::async_std_pool::AsyncStd, 8);
}
