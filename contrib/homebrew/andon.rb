# Untried: no Homebrew was at hand, and there is no release to download. For Homebrew on Linux; the server needs Linux.
# `url` and `sha256` are those of the release's archive; until then: brew install --HEAD ./andon.rb
class Andon < Formula
  desc "Image server: resize, crop, compose and convert images by URL"
  homepage "https://example.invalid/andon"
  license any_of: ["MIT", "Apache-2.0"]
  head "https://example.invalid/andon.git", branch: "main"

  depends_on "cmake" => :build
  depends_on "llvm" => :build
  depends_on "nasm" => :build
  depends_on "rust" => :build
  depends_on :linux

  def install
    ENV["LIBCLANG_PATH"] = Formula["llvm"].opt_lib.to_s
    system "cargo", "install", "--bin", "andon", *std_cargo_args(path: "crates/cli")
    system bin/"andon", "man", buildpath/"man"
    man1.install Dir["man/*.1"]
    generate_completions_from_executable(bin/"andon", "completions")
  end

  service do
    run [opt_bin/"andon", "serve", "--config", etc/"andon/andon.toml"]
    keep_alive true
  end

  test do
    assert_match version.to_s, shell_output("#{bin}/andon --version")
  end
end
