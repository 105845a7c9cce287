//! Bytes where only text can stand.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// With padding, in the usual alphabet.
pub fn base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}
