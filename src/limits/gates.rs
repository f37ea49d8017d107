//! Who may create games: those with a key, if the operator asks for one, and nobody from a blocked
//! address.

use std::{net::IpAddr, sync::Arc};

use actix_web::{
    HttpMessage, HttpRequest,
    dev::ServiceRequest,
    http::header::{HeaderMap, HeaderValue},
};
use anyhow::{Context, bail, ensure};
use dog_store::TokenHash;

use super::{Address, Cost};
use crate::{
    headers::token::{DOG_KEY, DOG_TOKEN},
    problem::{Code, Problem},
    watched_file::WatchedFile,
};

/// The fewest characters of a key.
const MIN_KEY: usize = 16;

/// Who may create games.
#[derive(Clone, Debug)]
pub struct Gates {
    /// The keys, one of which is needed; none if none is.
    pub create_keys: Option<Arc<WatchedFile<Keys>>>,
    pub blocked: Arc<WatchedFile<BlockedAddresses>>,
    /// The key of the operator; none is one, if there is none.
    pub operator: Arc<WatchedFile<Keys>>,
}

/// Stands in the extensions of a request that has the operator's key.
struct Operator;

/// Whether the request has the operator's key.
pub fn is_by_operator(request: &HttpRequest) -> bool {
    request.extensions().contains::<Operator>()
}

impl Gates {
    /// Whether a key is needed for what only some may do.
    pub fn are_closed(&self) -> bool {
        self.create_keys.is_some()
    }

    /// Checks the key of a request, if one is needed.
    ///
    /// # Errors
    /// `key_required`.
    pub fn check_key(&self, headers: &HeaderMap) -> Result<(), Problem> {
        let Some(keys) = &self.create_keys else {
            return Ok(());
        };
        let key = headers.get(DOG_KEY).and_then(|key| key.to_str().ok());
        match key.is_some_and(|key| keys.get().contain(key)) {
            true => Ok(()),
            false => Err(Code::KeyRequired.into()),
        }
    }

    /// Takes the operator's key, if the request has it as `Dog-Token`, for a mark that it had it:
    /// wherever that does not count, the request is as one without a token.
    pub(super) fn take_operator_key(&self, request: &mut ServiceRequest) {
        let key = request.headers().get(DOG_TOKEN);
        let key = key.and_then(|key| key.to_str().ok());
        if key.is_some_and(|key| self.operator.get().contain(key)) {
            let none = HeaderValue::from_static("");
            request.headers_mut().insert(DOG_TOKEN, none);
            request.extensions_mut().insert(Operator);
        }
    }

    /// Refuses creations, imports and joins from a blocked address.
    ///
    /// # Errors
    /// `blocked`.
    pub(super) fn check_address(&self, address: Address, cost: Cost) -> Result<(), Problem> {
        let is_guarded = matches!(cost, Cost::NewGame | Cost::Import | Cost::Join);
        match is_guarded && self.blocked.get().contain(address) {
            true => Err(Code::Blocked.into()),
            false => Ok(()),
        }
    }
}

/// Keys, by their hashes.
#[derive(Debug, Default)]
pub struct Keys(Vec<TokenHash>);

impl Keys {
    /// Reads a file with a key a line. Blank lines, and those that begin with `#`, are skipped.
    ///
    /// # Errors
    /// If it has no key, or one is too short or not visible ASCII.
    pub fn read(text: &str) -> anyhow::Result<Keys> {
        let keys = lines(text).map(|(number, key)| {
            let is_key = key.len() >= MIN_KEY && key.bytes().all(|byte| byte.is_ascii_graphic());
            ensure!(
                is_key,
                "line {number}: a key has {MIN_KEY} visible ASCII characters or more"
            );
            Ok(TokenHash::new(key))
        });
        let keys: Vec<TokenHash> = keys.collect::<anyhow::Result<_>>()?;
        ensure!(!keys.is_empty(), "there is no key in it");
        Ok(Keys(keys))
    }

    /// Whether this is one of the keys. All are compared, each in constant time.
    pub fn contain(&self, key: &str) -> bool {
        if self.0.is_empty() {
            return false;
        }
        let key = TokenHash::new(key);
        self.0
            .iter()
            .fold(false, |found, own| found | (*own == key))
    }
}

/// Networks of addresses, each with the number of its bits that count.
#[derive(Debug, Default)]
pub struct BlockedAddresses(Vec<(u128, u32)>);

impl BlockedAddresses {
    /// Reads a file with an address or a prefix, such as `203.0.113.0/24`, a line. Blank lines, and
    /// those that begin with `#`, are skipped.
    ///
    /// # Errors
    /// If a line is neither.
    pub fn read(text: &str) -> anyhow::Result<BlockedAddresses> {
        let networks = lines(text).map(|(number, line)| {
            let wrong = || format!("line {number}: {line} is neither an address nor a prefix");
            let (address, bits) = match line.split_once('/') {
                Some((address, bits)) => (address, Some(bits.parse::<u32>().with_context(wrong)?)),
                None => (line, None),
            };
            let address: IpAddr = address.trim().parse().with_context(wrong)?;
            let (address, own) = match address {
                IpAddr::V4(address) => (address.to_ipv6_mapped(), 32),
                IpAddr::V6(address) => (address, 128),
            };
            let bits = bits.unwrap_or(own);
            if bits > own {
                bail!(wrong());
            }
            Ok((address.to_bits(), 128 - own + bits))
        });
        Ok(BlockedAddresses(networks.collect::<anyhow::Result<_>>()?))
    }

    /// Whether the address is in one of the networks. Of an address of IPv6 only the first 64 bits
    /// are known.
    fn contain(&self, address: Address) -> bool {
        let known = match address {
            Address::Known(IpAddr::V6(_)) => 64,
            _ => u128::BITS,
        };
        let address = u128::from_be_bytes(address.bytes());
        let mut networks = self.0.iter();
        networks.any(|&(network, bits)| {
            let rest = u128::BITS - bits.min(known);
            (address ^ network).checked_shr(rest).unwrap_or_default() == 0
        })
    }
}

/// The lines of a file of the operator that say something, with their numbers.
pub fn lines(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let lines = (1..).zip(text.lines().map(str::trim));
    lines.filter(|(_, line)| !line.is_empty() && !line.starts_with('#'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_read_and_compared() {
        let keys = Keys::read("# for the club\nabcdefghijklmnop\n\n 0123456789abcdef \n").unwrap();
        for (key, is_known) in [
            ("abcdefghijklmnop", true),
            ("0123456789abcdef", true),
            ("abcdefghijklmno", false),
            ("# for the club", false),
            ("", false),
        ] {
            assert_eq!(keys.contain(key), is_known, "{key}");
        }
        for wrong in [
            "",
            "# nothing\n",
            "too-short",
            "sixteen characters",
            "sechzehn-zeichen-ä",
        ] {
            assert!(Keys::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn addresses_and_prefixes_are_blocked() {
        let text = "203.0.113.7\n198.51.100.0/24 \n# all\n2001:db8:1::/48\n2001:db8:2:3::4\n";
        let blocked = BlockedAddresses::read(text).unwrap();
        for (address, is_blocked) in [
            ("203.0.113.7", true),
            ("203.0.113.8", false),
            ("198.51.100.200", true),
            ("198.51.101.1", false),
            ("2001:db8:1:7::", true),
            ("2001:db8:2:3::", true),
            ("2001:db8:2:4::", false),
        ] {
            let address = Address::Known(address.parse().unwrap());
            assert_eq!(blocked.contain(address), is_blocked, "{address:?}");
        }
        assert!(!blocked.contain(Address::Unreadable));
        for wrong in [
            "203.0.113.0/33",
            "203.0.113",
            "::/129",
            "1.2.3.4/x",
            "somebody",
        ] {
            assert!(BlockedAddresses::read(wrong).is_err(), "{wrong}");
        }
    }
}
