// Signs URLs for Andon, and fetches them. Java 11 or newer, no packages.
//   String url = Sign.sign(key, "/r/fit:250x250,q:80/trip/a.jpg", 0, "shop", 0);
//   byte[] image = Sign.fetch("https://images.example" + url);

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.util.ArrayList;
import java.util.Base64;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static java.nio.charset.StandardCharsets.UTF_8;

public final class Sign {
    /**
     * Path and query of the signed URL. {@code expires} in seconds since 1970 (0: never), {@code name} of the key ("": any), and how
     * many segments are signed (0: all, and the query).
     */
    public static String sign(String key, String target, long expires, String name, int scope) throws GeneralSecurityException {
        String rest = target.startsWith("/") ? target.substring(1) : target;
        String[] parts = rest.split("\\?", 2);
        Stream<String> segments = Stream.of(parts[0].split("/", -1));
        if (scope > 0) segments = segments.limit(scope);
        String signed = segments.map(segment -> normal(segment, "")).collect(Collectors.joining("/"));
        if (scope == 0 && parts.length > 1) signed += "?" + normal(parts[1], "/?");
        Mac mac = Mac.getInstance("HmacSHA256");
        mac.init(new SecretKeySpec(key.getBytes(UTF_8), "HmacSHA256"));
        byte[] digest = mac.doFinal(("andon1\n" + expires + "\n" + scope + "\n/" + signed).getBytes(UTF_8));
        List<String> said = new ArrayList<>(List.of(Long.toString(expires), name, Integer.toString(scope)));
        List<String> unsaid = List.of("0", "", "0");
        while (!said.isEmpty() && said.get(said.size() - 1).equals(unsaid.get(said.size() - 1))) said.remove(said.size() - 1);
        said.add(0, Base64.getUrlEncoder().withoutPadding().encodeToString(digest));
        return "/~" + String.join(".", said) + "/" + rest;
    }

    /** Returns the image at a URL. */
    public static byte[] fetch(String url) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create(url)).build();
        var reply = HttpClient.newHttpClient().send(request, BodyHandlers.ofByteArray());
        if (reply.statusCode() != 200) throw new IOException(reply.statusCode() + ": " + new String(reply.body(), UTF_8));
        return reply.body();
    }

    /** Decodes the target once and escapes it again, so that a link stays valid if a proxy escapes it differently. */
    private static String normal(String text, String more) {
        String bytes = new String(text.getBytes(UTF_8), ISO_8859_1);
        bytes = Pattern.compile("%([0-9a-fA-F]{2})").matcher(bytes)
            .replaceAll(code -> Matcher.quoteReplacement(String.valueOf((char) Integer.parseInt(code.group(1), 16))));
        String bare = "-._~!$&'()*+,;=:@" + more;
        StringBuilder normal = new StringBuilder();
        for (char c : bytes.toCharArray()) {
            boolean letter = 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9';
            normal.append(letter || bare.indexOf(c) >= 0 ? String.valueOf(c) : String.format("%%%02X", (int) c));
        }
        return normal.toString();
    }

    // java Sign.java vectors.json signs the URLs of the file. java Sign.java KEY http://HOST TARGET writes the image.
    public static void main(String[] args) throws Exception {
        if (args.length == 3) {
            System.out.write(fetch(args[1] + sign(args[0], args[2], 0, "", 0)));
            System.out.flush();
            return;
        }
        Pattern member = Pattern.compile("\"(\\w+)\": (?:\"([^\"]*)\"|(\\d+))");
        for (String line : Files.readAllLines(Path.of(args[0]))) {
            Map<String, String> vector = new HashMap<>();
            for (Matcher found = member.matcher(line); found.find(); ) {
                vector.put(found.group(1), found.group(2) == null ? found.group(3) : found.group(2));
            }
            if (vector.isEmpty()) continue;
            long expires = Long.parseLong(vector.get("expires"));
            int scope = Integer.parseInt(vector.get("scope"));
            System.out.println(sign(vector.get("key"), vector.get("target"), expires, vector.get("name"), scope));
        }
    }
}
