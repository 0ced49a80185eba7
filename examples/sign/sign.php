<?php
// Signs URLs for Andon, and fetches them: without any package. `php sign.php vectors.json` signs the URLs of the file,
// `php sign.php KEY http://HOST TARGET` writes the image. In a page:
//   require 'sign.php';
//   $url = andon_sign(getenv('ANDON_KEY'), '/r/fit:250x250,q:80' . andon_path('/Grüße/a b.jpg'), time() + 3600);
//   echo '<img src="', htmlspecialchars($url), '">';

/** Signs a target. `$expires` is in seconds since 1970, `$scope` is the number of segments to sign (0: all, and the query). */
function andon_sign(string $key, string $target, int $expires = 0, string $name = '', int $scope = 0): string
{
    $rest = substr($target, strncmp($target, '/', 1) === 0 ? 1 : 0);
    [$path, $query] = explode('?', $rest, 2) + [1 => null];
    $segments = explode('/', $path);
    $segments = $scope > 0 ? array_slice($segments, 0, $scope) : $segments;
    $signed = implode('/', array_map('andon_normal', $segments));
    if ($scope === 0 && $query !== null) {
        $signed .= '?' . andon_normal($query, '/?');
    }
    $digest = hash_hmac('sha256', "andon1\n$expires\n$scope\n/$signed", $key, true);
    $said = [rtrim(strtr(base64_encode($digest), '+/', '-_'), '='), (string) $expires, $name, (string) $scope];
    for ($last = 3; $last > 0 && $said[$last] === ['', '0', '', '0'][$last]; $last--) {
        array_pop($said);
    }
    return '/~' . implode('.', $said) . "/$rest";
}

/** Returns the URL path of a file. Umlauts, spaces, `?`, `#` and `%` in `$name` are part of the file's name, and are escaped. */
function andon_path(string $path): string
{
    return implode('/', array_map('rawurlencode', explode('/', $path)));
}

/** Returns the image at a URL. */
function andon_fetch(string $url): string
{
    $image = file_get_contents($url, false, stream_context_create(['http' => ['ignore_errors' => true]]));
    if ($image === false || !preg_match('~^HTTP/\S+ 200~', $http_response_header[0])) {
        throw new RuntimeException($image === false ? "no answer from $url" : trim($image));
    }
    return $image;
}

/** Decodes the target once and escapes it again, so that a link stays valid if a proxy escapes it differently. */
function andon_normal(string $text, string $more = ''): string
{
    $bare = "-._~!$&'()*+,;=:@$more";
    $write = fn (string $byte) => ctype_alnum($byte) || strpos($bare, $byte) !== false
        ? $byte : sprintf('%%%02X', ord($byte));
    return $text === '' ? '' : implode('', array_map($write, str_split(rawurldecode($text))));
}

if (PHP_SAPI === 'cli' && realpath($argv[0]) === __FILE__) {
    if ($argc === 4) {
        [, $key, $host, $target] = $argv;
        echo andon_fetch($host . andon_sign($key, $target));
    } else {
        foreach (json_decode(file_get_contents($argv[1]), true) as $vector) {
            ['key' => $key, 'target' => $target, 'expires' => $expires, 'name' => $name, 'scope' => $scope] = $vector;
            echo andon_sign($key, $target, $expires, $name, $scope), "\n";
        }
    }
}
