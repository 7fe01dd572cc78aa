//! Numbers that look random and are not.

/// FNV-1a.
pub(crate) fn fnv(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
    })
}

/// The finish of `SplitMix64`: each bit of the input moves half of the bits of the output.
pub(crate) fn mix(seed: u64) -> u64 {
    let mut z = seed.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

/// From 0 to below 1.
pub(crate) fn unit(hash: u64) -> f64 {
    (mix(hash) >> 11) as f64 / (1_u64 << 53) as f64
}

/// A standard normal number (Box and Muller).
pub(crate) fn normal(hash: u64) -> f64 {
    let radius = (-2.0 * (1.0 - unit(hash)).ln()).sqrt();
    radius * (std::f64::consts::TAU * unit(mix(hash))).cos()
}
