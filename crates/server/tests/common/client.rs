//! A client that writes what it is given and reads what HTTP says it should.

use std::io::{BufRead, BufReader, ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

use andon_pixels::color::Convert;
use andon_pixels::{
    Alone, Context, Decode, Depth, Error, Limits, Model, Never, Plane, Scales, Stage, Traits,
};

/// One connection.
pub struct Client {
    writer: Box<dyn Write + Send>,
    reader: BufReader<Box<dyn Read + Send>>,
}

/// One reply, read to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

/// Longer than any reply takes, so that a lost reply fails the test instead of blocking it.
const PATIENCE: Duration = Duration::from_secs(60);

impl Client {
    pub fn connect(address: SocketAddr) -> Self {
        Self::over_tcp(TcpStream::connect(address).expect("a connection"))
    }

    fn over_tcp(stream: TcpStream) -> Self {
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let writer = stream.try_clone().expect("a second handle");
        Self::over(Box::new(writer), Box::new(stream))
    }

    /// Connects as another client of this machine, from an address in 127.0.0.0/8.
    pub fn connect_from(own: [u8; 4], address: SocketAddr) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .build()
            .expect("a runtime");
        let stream = runtime.block_on(async {
            let socket = tokio::net::TcpSocket::new_v4().expect("a socket");
            socket.bind((own, 0).into()).expect("an address");
            let stream = socket.connect(address).await.expect("a connection");
            stream.into_std().expect("a stream")
        });
        stream.set_nonblocking(false).expect("a waiting stream");
        Self::over_tcp(stream)
    }

    pub fn connect_unix(path: &Path) -> Self {
        let stream = UnixStream::connect(path).expect("a connection");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
        let writer = stream.try_clone().expect("a second handle");
        Self::over(Box::new(writer), Box::new(stream))
    }

    pub fn over(writer: Box<dyn Write + Send>, reader: Box<dyn Read + Send>) -> Self {
        Self {
            writer,
            reader: BufReader::new(reader),
        }
    }

    /// Writes bytes as they are.
    pub fn send(&mut self, bytes: impl AsRef<[u8]>) {
        self.writer
            .write_all(bytes.as_ref())
            .expect("an open connection");
    }

    /// Sends on a connection that the server may have closed.
    pub fn try_send(&mut self, bytes: impl AsRef<[u8]>) -> std::io::Result<()> {
        self.writer.write_all(bytes.as_ref())
    }

    /// Writes a request without reading its reply.
    pub fn ask(&mut self, method: &str, target: &str, headers: &[(&str, &str)]) {
        let mut request = format!("{method} {target} HTTP/1.1\r\nHost: test\r\n");
        for (name, value) in headers {
            request.push_str(&format!("{name}: {value}\r\n"));
        }
        request.push_str("\r\n");
        self.send(request);
    }

    pub fn request(&mut self, method: &str, target: &str, headers: &[(&str, &str)]) -> Reply {
        self.ask(method, target, headers);
        self.reply(method)
    }

    pub fn get(&mut self, target: &str) -> Reply {
        self.request("GET", target, &[])
    }

    /// Reads the reply to a request of `method`: as many bytes as it says, and not one more.
    pub fn reply(&mut self, method: &str) -> Reply {
        let status = self.line();
        let status = status.split(' ').nth(1).and_then(|code| code.parse().ok());
        let status = status.expect("a status line");
        let mut headers = Vec::new();
        loop {
            let line = self.line();
            match line.split_once(": ") {
                Some((name, value)) => headers.push((name.to_ascii_lowercase(), value.to_owned())),
                None => break,
            }
        }
        let mut reply = Reply {
            status,
            headers,
            body: Vec::new(),
        };
        if method != "HEAD" && status != 304 {
            let length = reply
                .header("content-length")
                .unwrap_or_else(|| panic!("no length: {reply:?}"));
            reply.body = vec![0; length.parse().expect("a number")];
            self.reader
                .read_exact(&mut reply.body)
                .expect("the whole body");
        }
        reply
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.reader.read_line(&mut line).expect("a line");
        line.trim_end().to_owned()
    }

    /// Reads until the server closes the connection.
    pub fn rest(&mut self) -> Vec<u8> {
        let mut rest = Vec::new();
        if let Err(error) = self.reader.read_to_end(&mut rest) {
            // A reset ends it as well.
            assert_ne!(error.kind(), ErrorKind::WouldBlock, "it is open still");
        }
        rest
    }

    /// Reads at most `most` bytes.
    pub fn some(&mut self, most: usize) -> Vec<u8> {
        let mut bytes = vec![0; most];
        let length = self.reader.read(&mut bytes).expect("bytes");
        bytes.truncate(length);
        bytes
    }
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut found = self.headers.iter().filter(|(known, _)| known == name);
        let first = found.next().map(|(_, value)| value.as_str());
        assert!(found.next().is_none(), "{name} is there twice");
        first
    }

    pub fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    /// Width and height of the image in the body.
    pub fn size(&self) -> (u32, u32) {
        let engine = andon_pixels::Engine::new(andon_codecs::ALL, Limits::default());
        let info = engine.probe(&self.body).expect("an image");
        (info.width, info.height)
    }

    /// The width in px and the pixels of the image in the body, as red, green, blue and opacity.
    pub fn pixels(&self) -> (u32, Vec<[u8; 4]>) {
        let codec = andon_codecs::ALL
            .iter()
            .find(|codec| codec.sniff(&self.body));
        let codec = codec.unwrap_or_else(|| panic!("{} is no image", self.text()));
        let info = codec.probe(&self.body).expect("a header");
        let how = Decode {
            scales: Scales::FULL,
            limits: &Limits::default(),
            interrupt: &Never,
            cores: &Alone,
            keep_metadata: false,
        };
        let image = codec.decode(&self.body, &info, &how).expect("an image");
        let frame = image.frame;
        let (width, count) = (frame.width, frame.width as usize * frame.height as usize);
        let rgb = Traits {
            alpha: frame.alpha.is_some(),
            ..Traits::new(Model::Rgb, Depth::U8)
        };
        let to_rgb = Convert {
            to: rgb,
            from: frame.colour.space,
        };
        let context = Context {
            overlays: &|effect| Err(Error::Internal(effect.to_string())),
            draw: &|text| Err(Error::Internal(format!("{text:?}"))),
            interrupt: &Never,
            cores: &Alone,
        };
        let frame = to_rgb.apply(frame, &context).expect("a frame");
        let samples = |plane: &Plane| plane.as_u8().expect("8 bits").samples().to_vec();
        let [r, g, b] = [0, 1, 2].map(|channel| samples(&frame.planes[channel]));
        let alpha = frame.alpha.as_ref().map(samples);
        let pixel = |at: usize| {
            let opacity = alpha.as_ref().map_or(255, |alpha| alpha[at]);
            [r[at], g[at], b[at], opacity]
        };
        (width, (0..count).map(pixel).collect())
    }

    /// The name of the format of the image in the body.
    pub fn format(&self) -> &'static str {
        andon_codecs::ALL
            .iter()
            .find(|codec| codec.sniff(&self.body))
            .map_or("none", |codec| codec.name())
    }
}
