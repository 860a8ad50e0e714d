//! Kinds of addresses that are not on the public internet, and addresses that disguise them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// Why connections to an address are refused unless the host allows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AddressClass {
    /// This machine.
    Loopback,
    /// `0.0.0.0/8` and `::`, which many systems treat as this machine.
    Unspecified,
    /// Networks of homes and companies.
    Private,
    /// Addresses on the same link.
    LinkLocal,
    /// Services that give cloud machines their credentials.
    Metadata,
    /// The inner side of a provider's address translation, `100.64.0.0/10`.
    Shared,
    /// Groups of receivers.
    Multicast,
    /// All machines of a network.
    Broadcast,
    /// For benchmarks of network devices, `198.18.0.0/15`.
    Benchmark,
    /// For examples in documentation.
    Documentation,
    /// 6to4 and Teredo, which lead to any IPv4 address.
    Tunnel,
    /// Not assigned.
    Reserved,
}

impl AddressClass {
    /// The class with an article, for messages.
    pub fn words(self) -> &'static str {
        match self {
            Self::Loopback => "a loopback address",
            Self::Unspecified => "an address that stands for this machine",
            Self::Private => "a private address",
            Self::LinkLocal => "a link-local address",
            Self::Metadata => "an address of a cloud's metadata service",
            Self::Shared => "an address behind a provider's address translation",
            Self::Multicast => "a multicast address",
            Self::Broadcast => "a broadcast address",
            Self::Benchmark => "an address for benchmarks",
            Self::Documentation => "an address for documentation",
            Self::Tunnel => "an address of an IPv6 tunnel",
            Self::Reserved => "a reserved address",
        }
    }

    /// Whether allowing a name also allows addresses of this class that the name resolves to. Metadata
    /// services need no names, so their addresses must be allowed explicitly.
    pub(super) fn is_opened_by_name(self) -> bool {
        !matches!(self, Self::Metadata | Self::LinkLocal)
    }
}

/// IPv4 networks that are not public. A narrower network comes before a wider one.
const CLOSED_V4: [(Ipv4Addr, u32, AddressClass); 23] = [
    (Ipv4Addr::new(169, 254, 169, 254), 32, AddressClass::Metadata),
    (Ipv4Addr::new(169, 254, 170, 2), 32, AddressClass::Metadata),
    (Ipv4Addr::new(169, 254, 170, 23), 32, AddressClass::Metadata),
    // Alibaba, Oracle and Azure. The last one lies among public addresses.
    (Ipv4Addr::new(100, 100, 100, 200), 32, AddressClass::Metadata),
    (Ipv4Addr::new(192, 0, 0, 192), 32, AddressClass::Metadata),
    (Ipv4Addr::new(168, 63, 129, 16), 32, AddressClass::Metadata),
    (Ipv4Addr::UNSPECIFIED, 8, AddressClass::Unspecified),
    (Ipv4Addr::new(10, 0, 0, 0), 8, AddressClass::Private),
    (Ipv4Addr::new(100, 64, 0, 0), 10, AddressClass::Shared),
    (Ipv4Addr::new(127, 0, 0, 0), 8, AddressClass::Loopback),
    (Ipv4Addr::new(169, 254, 0, 0), 16, AddressClass::LinkLocal),
    (Ipv4Addr::new(172, 16, 0, 0), 12, AddressClass::Private),
    (Ipv4Addr::new(192, 0, 0, 0), 24, AddressClass::Reserved),
    (Ipv4Addr::new(192, 0, 2, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(192, 88, 99, 0), 24, AddressClass::Tunnel),
    (Ipv4Addr::new(192, 168, 0, 0), 16, AddressClass::Private),
    (Ipv4Addr::new(198, 18, 0, 0), 15, AddressClass::Benchmark),
    (Ipv4Addr::new(198, 51, 100, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(203, 0, 113, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(233, 252, 0, 0), 24, AddressClass::Documentation),
    (Ipv4Addr::new(224, 0, 0, 0), 4, AddressClass::Multicast),
    (Ipv4Addr::BROADCAST, 32, AddressClass::Broadcast),
    (Ipv4Addr::new(240, 0, 0, 0), 4, AddressClass::Reserved),
];

/// IPv6 networks that are not public, with their classes. Everything outside `2000::/3` is closed anyway.
const CLOSED_V6: [(Ipv6Addr, u32, AddressClass); 10] = [
    (Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), 128, AddressClass::Metadata),
    (Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254), 128, AddressClass::Metadata),
    (Ipv6Addr::new(0xfc00, 0, 0, 0, 0, 0, 0, 0), 7, AddressClass::Private),
    (Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 0), 10, AddressClass::LinkLocal),
    (Ipv6Addr::new(0xfec0, 0, 0, 0, 0, 0, 0, 0), 10, AddressClass::Private),
    (Ipv6Addr::new(0xff00, 0, 0, 0, 0, 0, 0, 0), 8, AddressClass::Multicast),
    // Teredo, ORCHID and other protocols.
    (Ipv6Addr::new(0x2001, 0, 0, 0, 0, 0, 0, 0), 23, AddressClass::Tunnel),
    (Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 0), 32, AddressClass::Documentation),
    (Ipv6Addr::new(0x2002, 0, 0, 0, 0, 0, 0, 0), 16, AddressClass::Tunnel),
    (Ipv6Addr::new(0x3fff, 0, 0, 0, 0, 0, 0, 0), 20, AddressClass::Documentation),
];

/// The class of a closed address; `None` for a public one.
pub(super) fn closed_class(address: IpAddr) -> Option<AddressClass> {
    match plain(address) {
        IpAddr::V4(it) => closed_v4(it),
        IpAddr::V6(it) => closed_v6(it),
    }
}

/// The address that is contacted in the end: the IPv4 address embedded in an IPv6 one, or the address itself.
pub(super) fn plain(address: IpAddr) -> IpAddr {
    match address {
        IpAddr::V4(_) => address,
        IpAddr::V6(it) => embedded_v4(it).map_or(address, IpAddr::V4),
    }
}

fn closed_v4(address: Ipv4Addr) -> Option<AddressClass> {
    let bits = address.to_bits();
    let is_in = |network: Ipv4Addr, length: u32| (bits ^ network.to_bits()) >> (32 - length) == 0;
    CLOSED_V4.iter().find(|(network, length, _)| is_in(*network, *length)).map(|it| it.2)
}

fn closed_v6(address: Ipv6Addr) -> Option<AddressClass> {
    let bits = address.to_bits();
    if bits == 0 {
        return Some(AddressClass::Unspecified);
    }
    if bits == 1 {
        return Some(AddressClass::Loopback);
    }
    let is_in = |network: Ipv6Addr, length: u32| (bits ^ network.to_bits()) >> (128 - length) == 0;
    let named = CLOSED_V6.iter().find(|(network, length, _)| is_in(*network, *length));
    if let Some((_, _, class)) = named {
        return Some(*class);
    }
    // ISATAP: the last four bytes are an IPv4 address of the same site.
    let is_isatap = matches!(address.segments(), [_, _, _, _, 0 | 0x200, 0x5efe, _, _]);
    if is_isatap {
        return Some(AddressClass::Tunnel);
    }
    let is_global = bits >> 125 == 0b001;
    (!is_global).then_some(AddressClass::Reserved)
}

/// The IPv4 address embedded in an IPv6 one, which the system or a translator contacts: mapped, compatible,
/// translated (SIIT) and NAT64.
fn embedded_v4(address: Ipv6Addr) -> Option<Ipv4Addr> {
    let [.., high, low] = address.segments();
    let inner = Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low));
    match address.segments() {
        // `::` and `::1` look like compatible addresses but are not.
        [0, 0, 0, 0, 0, 0, 0, 0 | 1] => None,
        [0, 0, 0, 0, 0, 0 | 0xffff, _, _]
        | [0, 0, 0, 0, 0xffff, 0, _, _]
        | [0x64, 0xff9b, 0, 0, 0, 0, _, _] => Some(inner),
        _ => None,
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "tests")]
mod tests {
    use super::*;

    fn class(text: &str) -> Option<AddressClass> {
        closed_class(text.parse().unwrap())
    }

    #[test]
    fn public_addresses_are_open() {
        for text in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "169.253.255.255",
            "169.255.0.0",
            "172.15.255.255",
            "172.32.0.0",
            "168.63.129.15",
            "192.0.1.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700:4700::1111",
            "2001:4860:4860::8888",
            "2001:200::1",
            "::ffff:8.8.8.8",
            "64:ff9b::8.8.8.8",
        ] {
            assert_eq!(class(text), None, "{text}");
        }
    }

    #[test]
    fn every_other_address_is_closed_and_says_why() {
        for (text, wanted) in [
            ("127.0.0.1", AddressClass::Loopback),
            ("127.255.255.254", AddressClass::Loopback),
            ("0.0.0.0", AddressClass::Unspecified),
            ("0.1.2.3", AddressClass::Unspecified),
            ("10.1.2.3", AddressClass::Private),
            ("172.16.0.1", AddressClass::Private),
            ("172.31.255.255", AddressClass::Private),
            ("192.168.1.1", AddressClass::Private),
            ("100.64.0.1", AddressClass::Shared),
            ("100.127.255.255", AddressClass::Shared),
            ("100.100.100.200", AddressClass::Metadata),
            ("169.254.169.254", AddressClass::Metadata),
            ("169.254.170.2", AddressClass::Metadata),
            ("168.63.129.16", AddressClass::Metadata),
            ("192.0.0.192", AddressClass::Metadata),
            ("169.254.1.1", AddressClass::LinkLocal),
            ("192.0.0.8", AddressClass::Reserved),
            ("192.0.2.1", AddressClass::Documentation),
            ("198.51.100.7", AddressClass::Documentation),
            ("203.0.113.9", AddressClass::Documentation),
            ("192.88.99.1", AddressClass::Tunnel),
            ("198.18.0.1", AddressClass::Benchmark),
            ("198.19.255.255", AddressClass::Benchmark),
            ("224.0.0.1", AddressClass::Multicast),
            ("239.255.255.255", AddressClass::Multicast),
            ("240.0.0.1", AddressClass::Reserved),
            ("255.255.255.255", AddressClass::Broadcast),
            ("::", AddressClass::Unspecified),
            ("::1", AddressClass::Loopback),
            ("::ffff:127.0.0.1", AddressClass::Loopback),
            ("::ffff:169.254.169.254", AddressClass::Metadata),
            ("::127.0.0.1", AddressClass::Loopback),
            ("::ffff:0:127.0.0.1", AddressClass::Loopback),
            ("64:ff9b::10.0.0.1", AddressClass::Private),
            ("64:ff9b::127.0.0.1", AddressClass::Loopback),
            ("64:ff9b:1::1", AddressClass::Reserved),
            ("2002:7f00:1::", AddressClass::Tunnel),
            ("2001:0:7f00:1::", AddressClass::Tunnel),
            ("2001:20::1", AddressClass::Tunnel),
            ("2600::5efe:127.0.0.1", AddressClass::Tunnel),
            ("2600::200:5efe:10.0.0.1", AddressClass::Tunnel),
            ("fc00::1", AddressClass::Private),
            ("fdff::1", AddressClass::Private),
            ("fd00:ec2::254", AddressClass::Metadata),
            ("fe80::1", AddressClass::LinkLocal),
            ("febf::1", AddressClass::LinkLocal),
            ("fec0::1", AddressClass::Private),
            ("ff02::1", AddressClass::Multicast),
            ("2001:db8::1", AddressClass::Documentation),
            ("3fff::1", AddressClass::Documentation),
            ("100::1", AddressClass::Reserved),
            ("4000::1", AddressClass::Reserved),
            ("5f00::1", AddressClass::Reserved),
        ] {
            assert_eq!(class(text), Some(wanted), "{text}");
        }
    }
}
