use crate::{parts, tokens};

#[test]
fn words_give_the_stems_of_their_parts_and_themselves() {
    #[track_caller]
    fn check(text: &str, expected: &str) {
        assert_eq!(tokens(text).join(" "), expected, "{text}");
    }
    check("FileServer", "file server fileserv");
    check("file_server", "file server fileserv");
    check("fileserver", "fileserv");
    check("HTTPServer", "http server httpserver");
    check("HTTPServer_v2", "http server httpserverv2");
    check("getHTTPResponse", "get http respons gethttprespons");
    check("URLs, IDs", "url id");
    check("utf8", "utf utf8");
    check("x", "x");
    check("_x", "x");
    check("__init__", "init");
    check("MAX_BODY_2024", "max bodi 2024 maxbody2024");
    check("7 42", "42");
    check("the servers of it are running", "server run");
    check("self.is_none", "isnon");
    check("a-b/c.py:12", "b c py 12");
    check("naïveÄnderung Ünder", "naïve änderung naïveänderung ünder");
    check("日本語 text", "日本語 text");
    check("", "");
    check("\"'\\ -- * OR NEAR(", "near");
    check(&"ab".repeat(33), "");
    check(&"A1".repeat(200), "");
}

#[test]
fn parts_are_as_written() {
    assert_eq!(parts("HTTPServer_v2"), ["http", "server", "v", "2"]);
    assert_eq!(parts("the_URLs"), ["the", "urls"]);
    assert_eq!(parts("__"), [""; 0]);
}
