//! The same servers as `bench-server`, with the allocator of the `trunkline` binary.

#[path = "../bench-server/main.rs"]
mod server;

use mimalloc::MiMalloc;

#[global_allocator]
static ALLOCATOR: MiMalloc = MiMalloc;

fn main() -> anyhow::Result<()> {
    server::main()
}
