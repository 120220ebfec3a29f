//! The process of a scripted server; see `trunkline_testkit::script::relay`.

fn main() -> std::io::Result<()> {
    trunkline_testkit::script::relay::run(std::env::args().skip(1))
}
