# Signs URLs for Andon, and fetches them, with the standard library only. `ruby sign.rb vectors.json` signs the URLs of the file,
# `ruby sign.rb KEY http://HOST TARGET` writes the image.
#   url = Andon.sign(ENV["ANDON_KEY"], "/r/fit:250x250,q:80/trip/a.jpg", name: "shop")
#   image = Andon.fetch("https://images.example" + url)

require "json"
require "net/http"
require "openssl"

module Andon
  # `expires` is in seconds since 1970, `name` is the name of the key, and `scope` the number of segments to sign (0: all, and the query).
  def self.sign(key, target, expires: 0, name: "", scope: 0)
    rest = target.delete_prefix("/")
    path, query = rest.split("?", 2)
    segments = path.split("/", -1)
    segments = segments.first(scope) if scope > 0
    signed = segments.map { |segment| normal(segment) }.join("/")
    signed += "?" + normal(query, "/?") if scope == 0 && query
    digest = OpenSSL::HMAC.digest("SHA256", key, "andon1\n#{expires}\n#{scope}\n/#{signed}")
    signature = [digest].pack("m0").tr("+/", "-_").delete("=")
    said = [expires.to_s, name, scope.to_s]
    said.pop while !said.empty? && said.last == ["0", "", "0"][said.size - 1]
    "/~#{[signature, *said].join(".")}/#{rest}"
  end

  # Returns the image at a URL.
  def self.fetch(url)
    reply = Net::HTTP.get_response(URI(url))
    raise "#{reply.code}: #{reply.body}" unless reply.is_a?(Net::HTTPOK)
    reply.body
  end

  # Decodes the target once and escapes it again, so that a link stays valid if a proxy escapes it differently.
  def self.normal(text, more = "")
    bytes = text.b.gsub(/%([0-9a-fA-F]{2})/) { $1.hex.chr }
    bare = "-._~!$&'()*+,;=:@" + more
    bytes.each_char.map { |c| c.match?(/[A-Za-z0-9]/n) || bare.include?(c) ? c : format("%%%02X", c.ord) }.join
  end
end

if $PROGRAM_NAME == __FILE__
  if ARGV.size == 3
    key, host, target = ARGV
    $stdout.binmode.write(Andon.fetch(host + Andon.sign(key, target)))
  else
    JSON.parse(File.read(ARGV[0]), symbolize_names: true).each do |vector|
      puts Andon.sign(vector[:key], vector[:target], **vector.slice(:expires, :name, :scope))
    end
  end
end
