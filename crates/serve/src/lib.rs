//! Any Handler offered to the world: stdio, Streamable HTTP, HTTP+SSE.
