//! Names of runs that people can say: two words, chosen by the hash of the run's id.

use sha2::{Digest, Sha256};

/// The name of a run. The same id has the same name; two ids may share one, since there are some twenty thousand.
///
/// ```
/// let name = runner::runs::name_of("20261201-004803-9f3a2c");
/// assert_eq!(name, runner::runs::name_of("20261201-004803-9f3a2c"));
/// assert_eq!(name.split('-').count(), 2);
/// ```
pub fn name_of(id: &str) -> String {
    let hash: [u8; 32] = Sha256::digest(id.as_bytes()).into();
    let [a, b, c, d, ..] = hash;
    let first = usize::from(u16::from_be_bytes([a, b])) % FIRST.len();
    let second = usize::from(u16::from_be_bytes([c, d])) % SECOND.len();
    format!("{}-{}", FIRST[first], SECOND[second])
}

/// What it is like.
#[rustfmt::skip]
const FIRST: [&str; 145] = [
    "able", "agile", "alert", "amber", "ample", "apt", "artful", "azure", "balmy", "basic", "bold",
    "brave", "breezy", "bright", "brisk", "bronze", "bubbly", "busy", "calm", "candid", "careful",
    "cheery", "civil", "clean", "clear", "clever", "cool", "copper", "coral", "cosy", "crisp",
    "curious", "daring", "dapper", "deft", "direct", "dusky", "eager", "early", "earnest", "easy",
    "even", "fair", "fancy", "fine", "firm", "fleet", "fluent", "fond", "frank", "free", "fresh",
    "gentle", "giant", "glad", "gleaming", "golden", "good", "graceful", "grand", "great", "green",
    "handy", "happy", "hardy", "hearty", "helpful", "honest", "humble", "ideal", "ivory", "jolly",
    "jovial", "joyful", "keen", "kind", "lilac", "lively", "loyal", "lucid", "lucky", "lunar",
    "mellow", "merry", "mighty", "mild", "modest", "neat", "nimble", "noble", "olive", "open",
    "orderly", "patient", "placid", "plain", "polite", "proud", "pure", "quick", "quiet", "rapid",
    "ready", "regal", "robust", "rosy", "round", "royal", "ruby", "sage", "scarlet", "serene",
    "sharp", "shiny", "silent", "silver", "simple", "sleek", "smart", "smooth", "snowy", "solar",
    "solid", "sound", "spry", "stable", "steady", "sturdy", "sunny", "sure", "swift", "tall",
    "tidy", "tranquil", "true", "trusty", "upbeat", "valiant", "velvet", "vivid", "warm", "wise",
    "witty", "young", "zesty",
];

/// What it is.
#[rustfmt::skip]
const SECOND: [&str; 162] = [
    "alpaca", "ant", "antelope", "badger", "bat", "bear", "beaver", "bee", "beetle", "bison",
    "bobcat", "buffalo", "bunny", "camel", "canary", "carp", "cat", "cheetah", "chickadee",
    "chipmunk", "cicada", "cobra", "cod", "condor", "coyote", "crab", "crane", "cricket", "crow",
    "deer", "dingo", "dolphin", "donkey", "dove", "dragonfly", "duck", "eagle", "eel", "egret",
    "elk", "emu", "ermine", "falcon", "ferret", "finch", "firefly", "flamingo", "fox", "frog",
    "gannet", "gazelle", "gecko", "gibbon", "giraffe", "goat", "goldfinch", "goose", "grouse",
    "gull", "hamster", "hare", "hawk", "hedgehog", "heron", "hippo", "hornet", "horse", "hound",
    "ibex", "ibis", "iguana", "impala", "jackal", "jaguar", "jay", "kestrel", "kiwi", "koala",
    "lark", "lemur", "leopard", "linnet", "lion", "lizard", "llama", "lobster", "lynx", "magpie",
    "mallard", "mantis", "marlin", "marmot", "marten", "mink", "mole", "moose", "moth", "mouse",
    "mule", "narwhal", "newt", "nightjar", "ocelot", "octopus", "okapi", "orca", "oriole", "osprey",
    "otter", "owl", "oyster", "panda", "panther", "parrot", "partridge", "pelican", "penguin",
    "pheasant", "pigeon", "plover", "pony", "possum", "puffin", "puma", "quail", "rabbit",
    "raccoon", "raven", "robin", "rook", "salmon", "seal", "shrew", "skylark", "sloth", "snail",
    "sparrow", "squid", "squirrel", "stag", "starling", "stork", "swallow", "swan", "tapir", "tern",
    "thrush", "tiger", "toad", "toucan", "trout", "turtle", "viper", "vole", "walrus", "weasel",
    "whale", "wolf", "wombat", "wren", "yak", "zebra",
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn words_are_plain_short_and_unique() {
        for words in [&FIRST[..], &SECOND[..]] {
            let unique: BTreeSet<&str> = words.iter().copied().collect();
            assert!(unique.len() >= 128 && unique.len() == words.len());
            assert!(
                words
                    .iter()
                    .all(|word| word.len() <= 9
                        && word.bytes().all(|byte| byte.is_ascii_lowercase()))
            );
        }
    }

    #[test]
    fn ids_that_follow_each_other_have_names_of_their_own() {
        let names: BTreeSet<String> = (0..50)
            .map(|second| name_of(&format!("20261201-0048{second:02}-9f3a2c")))
            .collect();
        assert!(names.len() >= 48, "{names:?}");
        assert_eq!(name_of("20261201-004803-9f3a2c"), "proud-alpaca");
    }
}
