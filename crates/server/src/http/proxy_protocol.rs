//! The PROXY protocol, versions 1 and 2: at the beginning of each connection, a proxy says which client it belongs to.

use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use tokio::io::{AsyncRead, AsyncReadExt};

/// Reads the header of the PROXY protocol, and no byte after it. Returns the address of the client, or `None` if the
/// header names none, as in the proxy's own health checks.
///
/// # Errors
/// Errors of the stream, and `InvalidData` if there is no valid header.
pub(crate) async fn read_client<S: AsyncRead + Unpin>(
    stream: &mut S,
) -> io::Result<Option<IpAddr>> {
    let mut start = [0; SIGNATURE.len()];
    stream.read_exact(&mut start).await?;
    if start == SIGNATURE {
        return version2(stream).await;
    }
    if !start.starts_with(b"PROXY ") {
        return Err(wrong(
            "the connection does not begin with a header of the PROXY protocol",
        ));
    }
    // Byte by byte, because the length of the line is unknown and the bytes after it belong to the request.
    let mut line = start.to_vec();
    while !line.ends_with(b"\r\n") {
        if line.len() == LONGEST_LINE {
            return Err(wrong("the line of the PROXY protocol has no end"));
        }
        line.push(stream.read_u8().await?);
    }
    version1(&line).ok_or_else(|| wrong("the line of the PROXY protocol names no client"))
}

/// Parses a line of version 1, such as `PROXY TCP4 192.0.2.7 198.51.100.1 56324 443`. Returns `Some(None)` if it names
/// no client.
fn version1(line: &[u8]) -> Option<Option<IpAddr>> {
    let line = std::str::from_utf8(line).ok()?.trim_end();
    let fields: Vec<&str> = line.split(' ').collect();
    let address = |text: &str| text.parse::<IpAddr>().ok();
    match &fields[..] {
        ["PROXY", "UNKNOWN", ..] => Some(None),
        [
            "PROXY",
            family @ ("TCP4" | "TCP6"),
            client,
            server,
            ports @ ..,
        ] => {
            let (client, server) = (address(client)?, address(server)?);
            let fits =
                client.is_ipv4() == (*family == "TCP4") && client.is_ipv4() == server.is_ipv4();
            let are_ports =
                ports.len() == 2 && ports.iter().all(|port| port.parse::<u16>().is_ok());
            (fits && are_ports).then_some(Some(client))
        }
        _ => None,
    }
}

async fn version2<S: AsyncRead + Unpin>(stream: &mut S) -> io::Result<Option<IpAddr>> {
    let mut head = [0; 4];
    stream.read_exact(&mut head).await?;
    let [kind, family, length @ ..] = head;
    let length = usize::from(u16::from_be_bytes(length));
    if length > LONGEST_BODY {
        return Err(wrong("the header of the PROXY protocol is too long"));
    }
    let mut body = vec![0; length];
    stream.read_exact(&mut body).await?;
    let client = match (kind, family >> 4) {
        (LOCAL, _) => return Ok(None),
        (PROXY, 1) => body
            .first_chunk()
            .filter(|_| length >= 12)
            .map(|it: &[u8; 4]| Ipv4Addr::from(*it).into()),
        (PROXY, 2) => body
            .first_chunk()
            .filter(|_| length >= 36)
            .map(|it: &[u8; 16]| Ipv6Addr::from(*it).into()),
        // The client of a Unix socket, or of an unspecified address family.
        (PROXY, _) => return Ok(None),
        _ => None,
    };
    client
        .map(Some)
        .ok_or_else(|| wrong("the header of the PROXY protocol names no client"))
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

const SIGNATURE: [u8; 12] = *b"\r\n\r\n\0\r\nQUIT\n";

/// The byte for version 2 and the command LOCAL.
const LOCAL: u8 = 0x20;
const PROXY: u8 = 0x21;

/// Maximum length in bytes of the line of version 1, including its end.
const LONGEST_LINE: usize = 107;

/// Maximum length in bytes of the body of version 2: the addresses, and what proxies add about TLS and themselves.
const LONGEST_BODY: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    async fn read(bytes: &[u8]) -> Result<(Option<IpAddr>, Vec<u8>), String> {
        let mut rest = bytes;
        let client = read_client(&mut rest)
            .await
            .map_err(|error| error.to_string())?;
        Ok((client, rest.to_vec()))
    }

    fn binary(kind: u8, family: u8, body: &[u8]) -> Vec<u8> {
        let length = u16::try_from(body.len()).unwrap().to_be_bytes();
        [&SIGNATURE[..], &[kind, family], &length, body, b"GET"].concat()
    }

    #[tokio::test]
    async fn both_versions_name_the_client_and_leave_the_request() {
        let four: IpAddr = "192.0.2.7".parse().unwrap();
        let six: IpAddr = "2001:db8::7".parse().unwrap();
        let v4 = [
            [192, 0, 2, 7, 198, 51, 100, 1, 220, 4, 1, 187].as_slice(),
            b"more",
        ]
        .concat();
        let IpAddr::V6(octets) = six else {
            unreachable!()
        };
        let v6 = [octets.octets(), [0; 16]].concat();
        for (bytes, client) in [
            (
                b"PROXY TCP4 192.0.2.7 198.51.100.1 56324 443\r\nGET".to_vec(),
                Some(four),
            ),
            (
                b"PROXY TCP6 2001:db8::7 2001:db8::1 56324 443\r\nGET".to_vec(),
                Some(six),
            ),
            (b"PROXY UNKNOWN\r\nGET".to_vec(), None),
            (b"PROXY UNKNOWN ffff::1 ffff::2 1 2\r\nGET".to_vec(), None),
            (binary(PROXY, 0x11, &v4), Some(four)),
            (binary(PROXY, 0x21, &[v6, vec![0; 4]].concat()), Some(six)),
            (binary(PROXY, 0x31, &[0; 216]), None),
            (binary(LOCAL, 0, &[]), None),
        ] {
            assert_eq!(
                read(&bytes).await,
                Ok((client, b"GET".to_vec())),
                "{bytes:x?}"
            );
        }
    }

    #[tokio::test]
    async fn whatever_else_comes_is_refused() {
        for bytes in [
            b"GET / HTTP/1.1\r\nHost: a\r\n\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.7\r\n      ".to_vec(),
            b"PROXY TCP4 2001:db8::7 2001:db8::1 1 2\r\n".to_vec(),
            b"PROXY TCP4 192.0.2.7 198.51.100.1 1 65536\r\n".to_vec(),
            [&b"PROXY TCP4 "[..], &[b'1'; 200]].concat(),
            binary(0x11, 0x11, &[0; 12]),
            binary(PROXY, 0x11, &[0; 11]),
            binary(PROXY, 0x11, &[0; 5000]),
            b"PROXY TCP4 192".to_vec(),
        ] {
            assert!(read(&bytes).await.is_err(), "{bytes:x?}");
        }
    }
}
