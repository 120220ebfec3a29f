//! The gzip format without compression: a server that encodes its answers unasked.

/// Maximum length of a stored block.
const BLOCK: usize = 0xffff;

/// Wraps bytes in a gzip member of stored blocks.
pub(super) fn wrap(bytes: &[u8]) -> Vec<u8> {
    let mut wrapped = vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];
    let mut blocks = bytes.chunks(BLOCK).peekable();
    while let Some(block) = blocks.next() {
        let length = u16::try_from(block.len()).unwrap_or(u16::MAX);
        wrapped.push(u8::from(blocks.peek().is_none()));
        wrapped.extend(length.to_le_bytes());
        wrapped.extend((!length).to_le_bytes());
        wrapped.extend_from_slice(block);
    }
    wrapped.extend(checksum(bytes).to_le_bytes());
    wrapped.extend(u32::try_from(bytes.len()).unwrap_or(u32::MAX).to_le_bytes());
    wrapped
}

/// CRC-32 of RFC 1952.
fn checksum(bytes: &[u8]) -> u32 {
    let step = |crc: u32, _| if crc & 1 == 1 { (crc >> 1) ^ 0xedb8_8320 } else { crc >> 1 };
    !bytes.iter().fold(u32::MAX, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), step))
}
