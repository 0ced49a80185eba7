// Signs URLs for Andon, and fetches them. .NET 6 or newer, or Mono; no packages.
//   var url = Andon.Sign(key, "/r/fit:250x250,q:80/trip/a.jpg", name: "shop");
//   var image = await new HttpClient().GetByteArrayAsync("https://images.example" + url);

using System;
using System.Collections.Generic;
using System.IO;
using System.Linq;
using System.Net.Http;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;

public static class Andon
{
    /// <summary>
    /// Path and query of the signed URL. <c>expires</c> in seconds since 1970 (0: never), <c>name</c> of the key, and how many segments are
    /// signed (0: all, and the query).
    /// </summary>
    public static string Sign(string key, string target, long expires = 0, string name = "", int scope = 0)
    {
        var rest = target.StartsWith("/") ? target.Substring(1) : target;
        var parts = rest.Split(new[] { '?' }, 2);
        IEnumerable<string> segments = parts[0].Split('/');
        if (scope > 0) segments = segments.Take(scope);
        var signed = string.Join("/", segments.Select(segment => Normal(segment, "")));
        if (scope == 0 && parts.Length > 1) signed += "?" + Normal(parts[1], "/?");
        byte[] digest;
        using (var mac = new HMACSHA256(Encoding.UTF8.GetBytes(key)))
        {
            digest = mac.ComputeHash(Encoding.UTF8.GetBytes($"andon1\n{expires}\n{scope}\n/{signed}"));
        }
        var said = new List<string> { expires.ToString(), name, scope.ToString() };
        var unsaid = new[] { "0", "", "0" };
        while (said.Count > 0 && said[said.Count - 1] == unsaid[said.Count - 1]) said.RemoveAt(said.Count - 1);
        said.Insert(0, Convert.ToBase64String(digest).TrimEnd('=').Replace('+', '-').Replace('/', '_'));
        return $"/~{string.Join(".", said)}/{rest}";
    }

    /// <summary>Decodes the target once and escapes it again, so that a link stays valid if a proxy escapes it differently.</summary>
    static string Normal(string text, string more)
    {
        var bytes = string.Concat(Encoding.UTF8.GetBytes(text).Select(code => (char)code));
        bytes = Regex.Replace(bytes, "%([0-9a-fA-F]{2})", code => ((char)Convert.ToInt32(code.Groups[1].Value, 16)).ToString());
        var bare = "-._~!$&'()*+,;=:@" + more;
        Func<char, bool> plain = c => 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || bare.IndexOf(c) >= 0;
        return string.Concat(bytes.Select(c => plain(c) ? c.ToString() : $"%{(int)c:X2}"));
    }
}

// With vectors.json, signs the URLs of the file. With KEY http://HOST TARGET, writes the image to standard output.
static class Program
{
    static void Main(string[] args)
    {
        if (args.Length == 3)
        {
            var image = new HttpClient().GetByteArrayAsync(args[1] + Andon.Sign(args[0], args[2])).Result;
            using (var output = Console.OpenStandardOutput()) output.Write(image, 0, image.Length);
            return;
        }
        foreach (var line in File.ReadLines(args[0]))
        {
            var vector = new Dictionary<string, string>();
            foreach (Match member in Regex.Matches(line, "\"(\\w+)\": (?:\"([^\"]*)\"|(\\d+))"))
            {
                vector[member.Groups[1].Value] = member.Groups[2].Success ? member.Groups[2].Value : member.Groups[3].Value;
            }
            if (vector.Count == 0) continue;
            var expires = long.Parse(vector["expires"]);
            Console.WriteLine(Andon.Sign(vector["key"], vector["target"], expires, vector["name"], int.Parse(vector["scope"])));
        }
    }
}
