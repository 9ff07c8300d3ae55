//! An agent that reads documents, has a model analyse them and has it write a report.
//!
//! It speaks the line protocol of agentdyno (docs/reference/agent-protocol.md) and does what its twin in Python does
//! (../python/agent.py): same prompts, same options, same order of requests and lines. Only the runtime differs
//! between the programs.

pub mod http;
pub mod model;
pub mod protocol;
pub mod runtimes;
pub mod workflow;

use runtimes::Runtime;

/// What every program does: reads `--agents N` (how many cases it takes at once) and serves until it is told to stop.
pub fn serve<R: Runtime>(runtime: R, agents: usize) {
    let agents = agents_asked(agents);
    runtime.run(Box::pin(protocol::serve(runtime, agents)));
}

fn agents_asked(usual: usize) -> usize {
    let mut words = std::env::args().skip(1);
    let mut agents = usual;
    while let Some(word) = words.next() {
        let number = if word == "--agents" { words.next().and_then(|text| text.parse().ok()) } else { None };
        match number {
            Some(number) if number > 0 => agents = number,
            _ => {
                eprintln!("usage: PROGRAM [--agents N], with N of 1 or more");
                std::process::exit(2);
            }
        }
    }
    agents
}
