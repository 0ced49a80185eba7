//! Which addresses an origin may have. Names and redirects come from untrusted sources, so the address that is about to
//! be connected to is checked, and not the host name or URL. Everything that is not clearly on the public internet is
//! refused unless the origin's `allow` lists it. The metadata services of clouds, which issue credentials, are refused
//! even if `allow` lists them: only the client that fetches credentials may connect to them.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

use serde::Deserialize;

/// The addresses and ports that one client may connect to.
#[derive(Clone, Debug, Default)]
pub struct Guard(Reach);

#[derive(Clone, Debug)]
enum Reach {
    /// The reach of an origin: public addresses with every port, and those in `allow` with these ports.
    Origin { allow: Vec<Cidr>, ports: Vec<u16> },
    /// Every address, for hosts that requests cannot name.
    Everywhere,
    /// The reach of a client for credentials without TLS: addresses that are not public, because credentials must not
    /// cross the internet unencrypted.
    LocalCredentials,
}

/// A block of addresses: `10.0.0.0/8`, `fd00::/8`, or one address alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Cidr {
    network: IpAddr,
    bits: u32,
}

impl Guard {
    /// Permits public addresses, and the addresses in `allow` at `ports` only: a redirect must not reach other services
    /// there.
    #[must_use]
    pub fn allowing(allow: Vec<Cidr>, ports: Vec<u16>) -> Self {
        Self(Reach::Origin { allow, ports })
    }

    /// Permits every address, for a client that fetches credentials over TLS: the environment of the process names the
    /// host, and the host's certificate proves its identity.
    pub(crate) fn of_credentials() -> Self {
        Self(Reach::Everywhere)
    }

    /// Permits every address, for the client that sends telemetry to a collector, because only the configuration or the
    /// environment names the collector.
    pub(crate) fn of_collector() -> Self {
        Self(Reach::Everywhere)
    }

    /// Permits all addresses that are not public, for a client that fetches credentials without TLS.
    pub(crate) fn of_local_credentials() -> Self {
        Self(Reach::LocalCredentials)
    }

    /// Whether this exact address may be connected to at this port.
    #[must_use]
    pub fn permits(&self, address: IpAddr, port: u16) -> bool {
        // The system connects to the IPv4 address inside an IPv4-mapped one, so that address decides.
        let address = address.to_canonical();
        match &self.0 {
            Reach::Origin { allow, ports } => {
                let is_allowed = || allow.iter().any(|block| block.contains(address));
                let is_listed = || ports.contains(&port) && is_allowed();
                !is_metadata(address) && (is_public(address) || is_listed())
            }
            Reach::Everywhere => true,
            Reach::LocalCredentials => !is_public(address),
        }
    }
}

impl Default for Reach {
    fn default() -> Self {
        Self::Origin {
            allow: Vec::new(),
            ports: Vec::new(),
        }
    }
}

impl Cidr {
    pub(crate) fn contains(self, address: IpAddr) -> bool {
        match (self.network, address) {
            (IpAddr::V4(network), IpAddr::V4(address)) => within4(address, network, self.bits),
            (IpAddr::V6(network), IpAddr::V6(address)) => within6(address, network, self.bits),
            _ => false,
        }
    }
}

impl FromStr for Cidr {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let wrong = || {
            format!(
                "`{text}` is no block of addresses; write it like \"10.0.0.0/8\" or \"fd00::/8\""
            )
        };
        let (network, bits) = match text.split_once('/') {
            Some((network, bits)) => (network, Some(bits)),
            None => (text, None),
        };
        let network: IpAddr = network.parse().map_err(|_| wrong())?;
        let max_bits = if network.is_ipv4() { 32 } else { 128 };
        let bits = match bits {
            Some(bits) => bits.parse().ok().filter(|bits| *bits <= max_bits),
            None => Some(max_bits),
        };
        Ok(Self {
            network,
            bits: bits.ok_or_else(wrong)?,
        })
    }
}

impl TryFrom<String> for Cidr {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        text.parse()
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.network, self.bits)
    }
}

/// Whether this is the address of a cloud's metadata service, which describes the machine and issues its credentials, or
/// an IPv6 address in which a translator or a tunnel may find such an IPv4 address.
fn is_metadata(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => METADATA_4.contains(&address),
        IpAddr::V6(address) => {
            METADATA_6.contains(&address)
                || embedded_ipv4(address)
                    .iter()
                    .any(|inner| METADATA_4.contains(inner))
        }
    }
}

/// Returns the IPv4 addresses that may be embedded in an IPv6 address: in its last 32 bits (IPv4-compatible, SIIT, NAT64 with
/// a prefix of 96 bits, ISATAP; inverted in Teredo), around its bits 64 to 71 (NAT64 with a prefix of 48 bits), or behind
/// its first word (6to4).
fn embedded_ipv4(address: Ipv6Addr) -> [Ipv4Addr; 4] {
    let words = address.segments();
    let pair = |high: u16, low: u16| Ipv4Addr::from(u32::from(high) << 16 | u32::from(low));
    [
        pair(words[6], words[7]),
        pair(!words[6], !words[7]),
        pair(words[3], words[4] << 8 | words[5] >> 8),
        pair(words[1], words[2]),
    ]
}

fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => !RESERVED_4
            .iter()
            .any(|(network, bits)| within4(address, *network, *bits)),
        IpAddr::V6(address) => {
            within6(address, GLOBAL_UNICAST.0, GLOBAL_UNICAST.1)
                && !is_isatap(address)
                && !RESERVED_6
                    .iter()
                    .any(|(network, bits)| within6(address, *network, *bits))
        }
    }
}

/// Whether this is an ISATAP address. Its interface half is `0:5efe` followed by an IPv4 address, whatever its network
/// half is. Two bits of the first word are flags.
fn is_isatap(address: Ipv6Addr) -> bool {
    let words = address.segments();
    words[4] & !0x0300 == 0 && words[5] == 0x5efe
}

fn within4(address: Ipv4Addr, network: Ipv4Addr, bits: u32) -> bool {
    let mask = u32::MAX.checked_shl(32 - bits).unwrap_or(0);
    (address.to_bits() ^ network.to_bits()) & mask == 0
}

fn within6(address: Ipv6Addr, network: Ipv6Addr, bits: u32) -> bool {
    let mask = u128::MAX.checked_shl(128 - bits).unwrap_or(0);
    (address.to_bits() ^ network.to_bits()) & mask == 0
}

const METADATA_4: &[Ipv4Addr] = &[
    Ipv4Addr::new(169, 254, 169, 254), // Amazon, Google, Azure and most others
    Ipv4Addr::new(169, 254, 170, 2),   // Amazon's containers (ECS)
    Ipv4Addr::new(169, 254, 170, 23),  // Amazon's pods (EKS)
    Ipv4Addr::new(168, 63, 129, 16),   // Azure's own address at each machine
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba
    Ipv4Addr::new(192, 0, 0, 192),     // Oracle
    Ipv4Addr::new(169, 254, 42, 42),   // Scaleway
    Ipv4Addr::new(169, 254, 0, 23),    // Tencent (metadata.tencentyun.com)
];

const METADATA_6: &[Ipv6Addr] = &[
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), // Amazon
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),  // Amazon's pods (EKS)
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),  // Google
    Ipv6Addr::new(0xfd00, 0xc1, 0, 0, 0, 0, 0xa9fe, 0xa9fe), // Oracle
    Ipv6Addr::new(0xfd00, 0x42, 0, 0, 0, 0, 0, 0x42),   // Scaleway
    Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0xa9fe, 0xa9fe), // OpenStack
];

const RESERVED_4: &[(Ipv4Addr, u32)] = &[
    (Ipv4Addr::new(0, 0, 0, 0), 8),
    (Ipv4Addr::new(10, 0, 0, 0), 8),
    (Ipv4Addr::new(100, 64, 0, 0), 10), // shared by a provider's customers
    (Ipv4Addr::new(127, 0, 0, 0), 8),
    (Ipv4Addr::new(168, 63, 129, 16), 32), // a public address by its number; Azure's own service at each machine
    (Ipv4Addr::new(169, 254, 0, 0), 16),   // link-local, and the metadata of most clouds
    (Ipv4Addr::new(172, 16, 0, 0), 12),
    (Ipv4Addr::new(192, 0, 0, 0), 24),   // protocol assignments
    (Ipv4Addr::new(192, 0, 2, 0), 24),   // documentation
    (Ipv4Addr::new(192, 88, 99, 0), 24), // 6to4 relays
    (Ipv4Addr::new(192, 168, 0, 0), 16),
    (Ipv4Addr::new(198, 18, 0, 0), 15), // benchmarks
    (Ipv4Addr::new(198, 51, 100, 0), 24),
    (Ipv4Addr::new(203, 0, 113, 0), 24),
    (Ipv4Addr::new(224, 0, 0, 0), 4), // multicast
    (Ipv4Addr::new(240, 0, 0, 0), 4), // reserved, and broadcast
];

/// The block that contains all public IPv6 addresses. Loopback, IPv4-compatible, NAT64 (both), discard, unique local,
/// link-local, site-local and multicast addresses are outside of it.
const GLOBAL_UNICAST: (Ipv6Addr, u32) = (Ipv6Addr::new(0x2000, 0, 0, 0, 0, 0, 0, 0), 3);

/// Blocks inside `GLOBAL_UNICAST` that are not public.
const RESERVED_6: &[(Ipv6Addr, u32)] = &[
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23), // Teredo, benchmarks, ORCHID and others
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32), // documentation
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16), // 6to4
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20), // documentation
];

#[cfg(test)]
mod tests {
    use super::*;

    fn permits(address: &str) -> bool {
        Guard::default().permits(address.parse().unwrap(), 80)
    }

    /// Returns an IPv4 address in every form in which IPv6 can carry it.
    fn carriers(inner: Ipv4Addr) -> Vec<Ipv6Addr> {
        let [a, b, c, d] = inner.octets();
        let high = u16::from_be_bytes([a, b]);
        let low = u16::from_be_bytes([c, d]);
        vec![
            inner.to_ipv6_mapped(),
            Ipv6Addr::new(0, 0, 0, 0, 0, 0, high, low), // v4-compatible
            Ipv6Addr::new(0, 0, 0, 0, 0xffff, 0, high, low), // SIIT
            Ipv6Addr::new(0x64, 0xff9b, 0, 0, 0, 0, high, low), // NAT64
            Ipv6Addr::new(0x64, 0xff9b, 1, 0, 0, 0, high, low), // NAT64, local
            Ipv6Addr::new(0x64, 0xff9b, 1, high, u16::from(c), u16::from(d) << 8, 0, 0),
            Ipv6Addr::new(0x2002, high, low, 0, 0, 0, 0, 1), // 6to4
            Ipv6Addr::new(0x2001, 0, 0x4136, 0xe378, 0x8000, 63, !high, !low), // Teredo
            Ipv6Addr::new(0x2a00, 0x1450, 1, 2, 0, 0x5efe, high, low), // ISATAP
            Ipv6Addr::new(0x2a00, 0x1450, 1, 2, 0x200, 0x5efe, high, low),
            Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0x5efe, high, low),
        ]
    }

    #[test]
    fn what_is_not_public_is_refused() {
        for address in [
            "0.0.0.0",
            "0.1.2.3",
            "10.0.0.1",
            "10.255.255.255",
            "100.64.0.1",
            "100.100.100.200",
            "100.127.255.255",
            "127.0.0.1",
            "127.255.255.254",
            "168.63.129.16",
            "169.254.0.1",
            "169.254.169.254",
            "172.16.0.1",
            "172.31.255.255",
            "192.0.0.192",
            "192.0.2.1",
            "192.88.99.1",
            "192.168.0.1",
            "198.18.0.1",
            "198.19.255.255",
            "198.51.100.1",
            "203.0.113.1",
            "224.0.0.1",
            "239.255.255.255",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::2",
            "::127.0.0.1",
            "100::1",
            "64:ff9b::808:808",
            "2001::1",
            "2001:2::1",
            "2001:10::1",
            "2001:20::1",
            "2001:db8::1",
            "2002::1",
            "3fff::1",
            "5f00::1",
            "fc00::1",
            "fd00:ec2::254",
            "fe80::1",
            "febf::1",
            "fec0::1",
            "ff02::1",
            "4000::1",
            "1::1",
        ] {
            assert!(!permits(address), "{address} was permitted");
        }
    }

    #[test]
    fn what_is_public_is_permitted_to_its_edges() {
        for address in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "::ffff:8.8.8.8",
            "2001:200::1",
            "2001:4860:4860::8888",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "3ffe::1",
        ] {
            assert!(permits(address), "{address} was refused");
        }
    }

    #[test]
    fn no_form_that_carries_an_inner_address_gets_by() {
        for inner in [
            "127.0.0.1",
            "169.254.169.254",
            "10.0.0.1",
            "192.168.1.1",
            "0.0.0.0",
        ] {
            for address in carriers(inner.parse().unwrap()) {
                assert!(!permits(&address.to_string()), "{address} was permitted");
            }
        }
        // A tunnel to a public address is a detour that nobody needs.
        for address in &carriers(Ipv4Addr::new(8, 8, 8, 8))[1..] {
            assert!(!permits(&address.to_string()), "{address} was permitted");
        }
    }

    #[test]
    fn an_allow_list_opens_its_blocks_and_no_more() {
        let blocks = ["127.0.0.0/8", "10.1.0.0/16", "fd00::/8"];
        let blocks = blocks.iter().map(|text| text.parse().unwrap()).collect();
        let guard = Guard::allowing(blocks, vec![8080]);
        let permits = |address: &str| guard.permits(address.parse().unwrap(), 8080);
        assert!(!guard.permits("127.0.0.1".parse().unwrap(), 8081));
        assert!(guard.permits("8.8.8.8".parse().unwrap(), 8081));
        for address in [
            "127.0.0.1",
            "::ffff:127.0.0.1",
            "10.1.255.255",
            "fd12::1",
            "8.8.8.8",
        ] {
            assert!(permits(address), "{address} was refused");
        }
        for address in [
            "10.2.0.0",
            "::1",
            "fc00::1",
            "169.254.169.253",
            "64:ff9b::7f00:1",
        ] {
            assert!(!permits(address), "{address} was permitted");
        }
    }

    #[test]
    fn no_allow_list_opens_the_services_that_issue_credentials() {
        let all = ["0.0.0.0/0", "::/0", "169.254.169.254", "fd00:ec2::254"];
        let all = all.iter().map(|text| text.parse().unwrap()).collect();
        let guard = Guard::allowing(all, vec![80]);
        for inner in METADATA_4 {
            assert!(!guard.permits((*inner).into(), 80), "{inner} was permitted");
            for address in carriers(*inner) {
                assert!(
                    !guard.permits(address.into(), 80),
                    "{address} was permitted"
                );
            }
        }
        for address in METADATA_6 {
            assert!(
                !guard.permits((*address).into(), 80),
                "{address} was permitted"
            );
        }
        assert!(guard.permits("169.254.169.253".parse().unwrap(), 80));
        assert!(guard.permits("fd00:ec2::255".parse().unwrap(), 80));
    }

    #[test]
    fn the_client_for_credentials_reaches_public_addresses_over_tls_only() {
        let (secure, local) = (Guard::of_credentials(), Guard::of_local_credentials());
        for address in ["169.254.169.254", "fd00:ec2::23", "127.0.0.1", "10.0.0.1"] {
            let address = address.parse().unwrap();
            assert!(
                secure.permits(address, 443) && local.permits(address, 80),
                "{address}"
            );
        }
        let public = "8.8.8.8".parse().unwrap();
        assert!(secure.permits(public, 443) && !local.permits(public, 80));
    }

    #[test]
    fn blocks_are_read_strictly() {
        assert!(
            "0.0.0.0/0"
                .parse::<Cidr>()
                .unwrap()
                .contains(IpAddr::V4(Ipv4Addr::LOCALHOST))
        );
        assert!(
            "::/0"
                .parse::<Cidr>()
                .unwrap()
                .contains(IpAddr::V6(Ipv6Addr::LOCALHOST))
        );
        for wrong in [
            "",
            "10/8",
            "10.0.0.0/33",
            "fd00::/129",
            "10.0.0.0/-1",
            "localhost",
            "010.0.0.1",
        ] {
            assert!(wrong.parse::<Cidr>().is_err(), "{wrong} was accepted");
        }
    }
}
