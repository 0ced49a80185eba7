// Signs URLs for Andon, and fetches them, with the standard library only. `go run sign.go vectors.json` signs the URLs of the file,
// `go run sign.go KEY http://HOST TARGET` writes the image.
package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strconv"
	"strings"
)

// Signature has the parameters of a signature. The zero value stands for no expiry, any key, and all segments.
type Signature struct {
	Expires int64  `json:"expires"` // seconds since 1970
	Name    string `json:"name"`    // of the key
	Scope   int    `json:"scope"`   // segments that are signed; 0: all, and the query
}

// Sign returns the path and query of the signed URL.
func (s Signature) Sign(key []byte, target string) string {
	rest := strings.TrimPrefix(target, "/")
	path, query, hasQuery := strings.Cut(rest, "?")
	segments := strings.Split(path, "/")
	if s.Scope > 0 && s.Scope < len(segments) {
		segments = segments[:s.Scope]
	}
	for at, segment := range segments {
		segments[at] = normal(segment, "")
	}
	signed := strings.Join(segments, "/")
	if s.Scope == 0 && hasQuery {
		signed += "?" + normal(query, "/?")
	}
	mac := hmac.New(sha256.New, key)
	fmt.Fprintf(mac, "andon1\n%d\n%d\n/%s", s.Expires, s.Scope, signed)
	said := []string{strconv.FormatInt(s.Expires, 10), s.Name, strconv.Itoa(s.Scope)}
	for len(said) > 0 && said[len(said)-1] == []string{"0", "", "0"}[len(said)-1] {
		said = said[:len(said)-1]
	}
	signature := base64.RawURLEncoding.EncodeToString(mac.Sum(nil))
	return "/~" + strings.Join(append([]string{signature}, said...), ".") + "/" + rest
}

// Decodes the target once and escapes it again, so that a link stays valid if a proxy escapes it differently.
func normal(text, more string) string {
	var out strings.Builder
	for at := 0; at < len(text); at++ {
		char := text[at]
		if char == '%' && at+2 < len(text) {
			if code, err := strconv.ParseUint(text[at+1:at+3], 16, 8); err == nil {
				char, at = byte(code), at+2
			}
		}
		letter := 'a' <= char|0x20 && char|0x20 <= 'z' || '0' <= char && char <= '9'
		if letter || strings.IndexByte("-._~!$&'()*+,;=:@"+more, char) >= 0 {
			out.WriteByte(char)
		} else {
			fmt.Fprintf(&out, "%%%02X", char)
		}
	}
	return out.String()
}

// Fetch returns the image at a URL.
func Fetch(url string) ([]byte, error) {
	reply, err := http.Get(url)
	if err != nil {
		return nil, err
	}
	defer reply.Body.Close()
	body, err := io.ReadAll(reply.Body)
	if err == nil && reply.StatusCode != http.StatusOK {
		err = fmt.Errorf("%s: %s", reply.Status, body)
	}
	return body, err
}

func main() {
	if len(os.Args) == 4 {
		image, err := Fetch(os.Args[2] + Signature{}.Sign([]byte(os.Args[1]), os.Args[3]))
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(image)
		return
	}
	text, err := os.ReadFile(os.Args[1])
	if err != nil {
		panic(err)
	}
	var vectors []struct {
		Signature
		Key    string `json:"key"`
		Target string `json:"target"`
	}
	if err := json.Unmarshal(text, &vectors); err != nil {
		panic(err)
	}
	for _, vector := range vectors {
		fmt.Println(vector.Sign([]byte(vector.Key), vector.Target))
	}
}
