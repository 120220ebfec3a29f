// table
//! The catalogue of causes: one row per known way in which a set-up breaks. Reports and the docs
//! are generated from it.

use serde::{Serialize, Serializer};

/// One row of the catalogue.
#[derive(Debug, Clone, Copy)]
pub struct Entry {
    /// The stable, machine-readable name.
    pub id: &'static str,
    pub area: Area,
    /// One line that says what is wrong.
    pub title: &'static str,
    /// The reason why this breaks the set-up.
    pub explanation: &'static str,
    /// General advice; a report has the exact lines.
    pub fix: &'static str,
}

/// The part of the set-up to which a cause belongs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Area {
    Command,
    Output,
    Protocol,
    Address,
    Security,
    Http,
    SignIn,
    Setup,
}

impl Area {
    pub const ALL: [Self; 8] = [
        Self::Command,
        Self::Output,
        Self::Protocol,
        Self::Address,
        Self::Security,
        Self::Http,
        Self::SignIn,
        Self::Setup,
    ];

    pub fn title(self) -> &'static str {
        match self {
            Self::Command => "Starting the command",
            Self::Output => "Output of the process",
            Self::Protocol => "The conversation",
            Self::Address => "Reaching the address",
            Self::Security => "The secure connection",
            Self::Http => "HTTP responses",
            Self::SignIn => "Authentication and access",
            Self::Setup => "The set-up of this machine",
        }
    }
}

macro_rules! catalogue {
    ($($area:ident { $($cause:ident = $id:literal, $title:literal, $explanation:literal, $fix:literal;)* })*) => {
        /// The reason why a set-up does not work, one per row of [`CAUSES`].
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum Cause {
            $($(#[doc = $title] $cause,)*)*
        }

        /// Every cause we know, by area.
        pub const CAUSES: &[(Cause, Entry)] = &[$($((Cause::$cause, Entry {
            id: $id,
            area: Area::$area,
            title: $title,
            explanation: $explanation,
            fix: $fix,
        }),)*)*];
    };
}

catalogue! {
    Command {
        ProgramNotFound = "program-not-found",
            "The program does not exist",
            "A program without a slash in its name is looked for in the directories of PATH, and none of them has it. No shell is involved, so aliases and functions do not count.",
            "Install the program, or correct its name.";
        ProgramOutsidePath = "program-outside-path",
            "The program is installed, but in no directory of PATH",
            "Version managers (nvm, pyenv, volta, cargo, Homebrew) extend PATH in the start-up files of a shell. What is not started by that shell, such as a desktop application, does not get it.",
            "Write the absolute path of the program into the configuration.";
        CommandInOneWord = "command-in-one-word",
            "The program and its arguments are one string",
            "A client does not split `command` at blanks: it looks for a program whose name has blanks in it.",
            "Write each word by itself: `command` is a list here (other clients: the program in `command`, the rest in `args`).";
        NotExecutable = "not-executable",
            "The file may not be executed",
            "Its permissions lack the right to execute, or it is a directory.",
            "Give it that right with `chmod +x`, or start it through its interpreter.";
        InterpreterMissing = "interpreter-missing",
            "The interpreter in the file's first line does not exist",
            "The line `#!…` names the program that runs the file. The system reports its absence as if the file itself were missing.",
            "Install that interpreter, or start the file with one that is there.";
        CrlfScript = "crlf-script",
            "The script's first line ends in a carriage return",
            "The file was saved with Windows line endings, so the name of its interpreter ends in an invisible character, and no such program exists.",
            "Save the file with Unix line endings.";
        NoInterpreterLine = "no-interpreter-line",
            "The file is a script without a `#!` line",
            "A shell would run such a file itself; a client cannot, as it starts programs without a shell.",
            "Name the interpreter as the program, and the file as its first argument.";
        WrongArchitecture = "wrong-architecture",
            "The program was built for another kind of machine",
            "Its header names another processor or operating system than this one.",
            "Install the build for this machine.";
        LoaderMissing = "loader-missing",
            "The program needs a system library loader that is not here",
            "It was linked against another C library (glibc against musl, or the reverse). The system reports that as if the file itself were missing.",
            "Install the build for this system's C library, or a static one.";
        WorkingDirectoryMissing = "working-directory-missing",
            "The working directory does not exist",
            "The process cannot be started in a directory that is missing, or that is a file.",
            "Create the directory, or correct `cwd`.";
        VariableUnset = "variable-unset",
            "The set-up refers to an environment variable that is not set",
            "The reference cannot be replaced by a value. Some clients pass it on literally, so the server gets the text of the reference as its secret.",
            "Set the variable where the client is started, or write its value into `environment` (other clients: `env`).";
        VariableQuoted = "variable-quoted",
            "A variable's value has quotation marks around it",
            "No shell takes them away, so they are part of the value. A token with quotation marks is a wrong token.",
            "Take the quotation marks out of the value.";
        VariablePlaceholder = "variable-placeholder",
            "A variable still has the example value of some manual, or none",
            "The text was copied and its placeholder never replaced.",
            "Put the real value in its place.";
        VariableMissing = "variable-missing",
            "The server ends because it misses an environment variable",
            "A server gets a short list of variables and those named in its `environment` (other clients: `env`), not the whole environment of a shell.",
            "Name the variable in the server's `environment` (other clients: `env`).";
        ShellSyntax = "shell-syntax",
            "The command uses the syntax of a shell, and none is involved",
            "Clients start the program directly: `~`, `$NAME`, `|`, `&&`, `>` and globs are passed on as they stand.",
            "Write paths and values out, or start it through `sh -c`.";
        ScriptMissing = "script-missing",
            "The script that the interpreter is to run does not exist",
            "A relative path counts from the working directory of the client, which is often not the one you think of.",
            "Write the absolute path of the script.";
        ModuleMissing = "module-missing",
            "The server misses a module or package",
            "Its dependencies are not installed in the environment in which it runs (`node_modules`, a virtual environment), or it runs in another one than they were installed for.",
            "Install the dependencies, or start it with the interpreter of the environment that has them.";
        LibraryMismatch = "library-mismatch",
            "The server does not fit a version of a library that it uses",
            "It does not say which versions it works with, so the newest were installed, and they have changed since it was written.",
            "Run it with an older version of the library, or install a newer version of the server.";
        PackageMissing = "package-missing",
            "The package does not exist in the registry",
            "The registry answered that it has no package of that name or version.",
            "Correct the package's name and version. Somebody may register a wrong name later: pin the version.";
        RegistryUnreachable = "registry-unreachable",
            "The package registry cannot be reached",
            "The package runner (npx, uvx, …) looks the package up at every start, and has no network, no proxy or the wrong registry.",
            "Install the package once, and start what was installed instead of downloading at every start.";
        RegistryCertificate = "registry-certificate",
            "The package runner does not trust the registry's certificate",
            "A company's proxy or a private registry has a certificate of its own authority. This system may trust it; package runners have their own list.",
            "Let the runner use the certificates of this system, by a variable in `environment` (other clients: `env`).";
        PackageCacheBroken = "package-cache-broken",
            "The cache of the package runner is broken",
            "A download that was interrupted, or two that ran at once, left a package half there; it is used again at every start.",
            "Remove that cache; it is filled again at the next start.";
        WaitsForConfirmation = "waits-for-confirmation",
            "The package runner waits for a confirmation of the installation",
            "Nobody sees its question, and it reads the first protocol message as the answer.",
            "Add `-y` (npx) or install the package before.";
        StillInstalling = "still-installing",
            "The package is still being downloaded or built",
            "The first start of a package runner takes long, and clients give up before.",
            "Install the package once by hand, then start again; or allow more time.";
        RuntimeTooOld = "runtime-too-old",
            "The interpreter is too old for the server",
            "The server uses syntax or functions that this version of its interpreter does not have.",
            "Use a newer version, named by its absolute path.";
        SyntaxError = "syntax-error",
            "The server's code has a syntax error",
            "Its interpreter refuses the file, so the server never starts.",
            "Correct the line that the evidence shows, or install a released version of the server.";
        BadArgument = "bad-argument",
            "The server refuses its arguments",
            "It printed how it wants to be called, and ended.",
            "Correct the arguments.";
        FileUnusable = "file-unusable",
            "The server cannot use a file or directory that it needs",
            "It is missing, or the system denies access to it, and the server ended.",
            "Create it, give access to it, or point the server elsewhere.";
        CredentialRefused = "credential-refused",
            "The service behind the server refuses its credential",
            "The server reached its upstream service, which rejected the key or token.",
            "Get a new key, and put it into the server's `environment` (other clients: `env`).";
        DockerNotRunning = "docker-not-running",
            "The container service does not run",
            "The command starts a container, and nothing answers that could run it.",
            "Start Docker (or podman), then try again.";
        DockerWithoutInput = "docker-without-input",
            "The container is started without its standard input",
            "Without `-i`, `docker run` closes the server's input at once, so it ends, or never hears a message.",
            "Add `-i` to `docker run`.";
        PortTaken = "port-taken",
            "The server wants a port that another process has",
            "Another process listens there already, often an earlier copy of the same server.",
            "End the other process, or give the server another port.";
        KilledBySignal = "killed-by-signal",
            "A signal ended the process",
            "It crashed (SIGSEGV, SIGABRT, SIGILL), or the system ended it because memory ran out (SIGKILL).",
            "Read what it wrote last; run it by hand with the same arguments.";
        ExitedAtStart = "exited-at-start",
            "The server's process ended before it answered",
            "A server runs until its input ends. This one ended by itself.",
            "Read what it wrote last; run it by hand with the same arguments.";
        NeedsWholeEnvironment = "needs-whole-environment",
            "It works only with variables that clients do not pass on",
            "With the other variables of your shell it works (secrets were left out of that trial), with the short list that clients pass on it does not.",
            "Name the variables it needs in its `environment` (other clients: `env`).";
        NeedsPath = "needs-path",
            "It works only with the PATH of your shell",
            "Desktop applications get a shorter PATH, in which the program, or one that it calls, is not found.",
            "Write absolute paths, or set PATH in the server's `environment` (other clients: `env`).";
        NeedsWorkingDirectory = "needs-working-directory",
            "It works only in the current directory",
            "Desktop applications start servers elsewhere (often in `/` or the home directory), where its relative paths lead nowhere.",
            "Write absolute paths, or set `cwd`.";
        CannotSpawn = "cannot-spawn",
            "The system cannot start the process",
            "Neither the file nor its permissions are to blame; the system's own message says more.",
            "See what the system says; limits on processes, memory or descriptors are the usual reason.";
    }
    Output {
        StdoutNoise = "stdout-noise",
            "The server writes something else than messages to its standard output",
            "On stdio, standard output belongs to the protocol: one JSON-RPC message a line and nothing else. Some clients skip other lines, others close the connection (`-32000 Connection closed`).",
            "Send banners and logs to standard error.";
        StdoutForeignJson = "stdout-foreign-json",
            "The server writes JSON that is not JSON-RPC to its standard output",
            "Structured log lines look like messages and are none; clients that take them for messages fail.",
            "Send logs to standard error.";
        LspFraming = "lsp-framing",
            "The server frames its messages as language servers do",
            "It sends `Content-Length` headers. MCP on stdio has one message a line and no headers.",
            "Use the server's MCP mode, or a version that speaks MCP.";
        MultiLineJson = "multi-line-json",
            "The server spreads a message over several lines",
            "A line break ends a message, so each line of a pretty-printed message is a broken one.",
            "Write each message on one line, without indentation.";
        StdoutBuffered = "stdout-buffered",
            "The server's answers stay in a buffer of its standard output",
            "When standard output is a pipe, many languages collect what is written until some kilobytes are together. The answer is there and is not sent.",
            "Flush after every message, or turn buffering off (`python -u`, `PYTHONUNBUFFERED=1`, `stdbuf -oL`).";
        AnswersOnlyAtEnd = "answers-only-at-end",
            "The server answers only after its input has ended",
            "It reads its input to the end before it works, or sends its answers only when it leaves. A conversation is impossible that way.",
            "Read line by line, and answer each line as it comes.";
        AnswersOnStderr = "answers-on-stderr",
            "The server writes its answers to standard error",
            "Messages belong to standard output; what is on standard error counts as a log.",
            "Write messages to standard output.";
        LooksLikeHttpServer = "is-an-http-server",
            "The command starts an HTTP server, not one on stdio",
            "It says that it listens at an address, and does not answer on its standard output.",
            "Connect to that address, or start it with its option for stdio.";
        LineTooLong = "line-too-long",
            "The server writes a line without end",
            "A message is one line; this one is longer than any message may be.",
            "End every message with a line break.";
    }
    Protocol {
        NoAnswer = "no-answer",
            "The server does not answer",
            "The process runs, or the connection is open, but nothing came back in time.",
            "See what it waits for; run it by hand.";
        NotJsonRpc = "not-json-rpc",
            "What the server answers is not JSON-RPC",
            "An answer is an object with `jsonrpc`, the request's `id`, and `result` or `error`.",
            "Correct the server; the evidence shows the answer.";
        IdMismatch = "id-mismatch",
            "The server answers with another id than the request had",
            "Answers find their requests by `id`, same value and same type. A client waits for ever for this one.",
            "Send the request's `id` back unchanged.";
        LegacyOnly = "legacy-only",
            "The server speaks only revisions with the `initialize` handshake",
            "It does not know `server/discover`, with which a client of 2026-07-28 begins.",
            "Let the client begin with `initialize`, or put `trunkline bridge` in front of it.";
        ModernOnly = "modern-only",
            "The server speaks only 2026-07-28, which has no `initialize`",
            "A client of an older revision begins with `initialize` and is refused.",
            "Let the client send its revision in `_meta` with every request, or put `trunkline bridge` in front of it.";
        RevisionNotShared = "revision-not-shared",
            "The two sides have no protocol revision in common",
            "The server named the revisions it speaks, and none of them is one we know.",
            "Update the older side.";
        InitializeRefused = "initialize-refused",
            "The server answers the first request with an error",
            "Its own message says why.",
            "See the server's message.";
        DiesAtTheQuestion = "dies-at-the-question",
            "The server ends when it is asked something it does not know",
            "An unknown method is to be answered with error -32601. This server ends instead, so clients of 2026-07-28 lose it at their first request.",
            "Answer unknown methods with an error; until then, let the client begin with `initialize`.";
        SessionLost = "session-lost",
            "The server forgets the session it has just given out",
            "The next request with that session is refused. Behind a load balancer, it reaches another process than the first one did.",
            "Route by the `Mcp-Session-Id` header (sticky sessions), or share sessions between the processes.";
        ListFails = "list-fails",
            "The server declares something that it cannot list",
            "It names the capability, and answers the request for its list with an error.",
            "Correct the server, or take the capability out of its introduction.";
        ListUnreadable = "list-unreadable",
            "A list that the server gives cannot be read",
            "Entries miss what they must have, so clients drop them or the whole list.",
            "Correct the entries named in the evidence.";
        CallFails = "call-fails",
            "The server connects and lists, but the first call fails",
            "A tool that says it only reads and needs no arguments was called, and the server answered with an error.",
            "See the server's message; a missing credential is the usual reason.";
        ConnectionBreaks = "connection-breaks",
            "The connection breaks in the middle of the conversation",
            "The server or something in between closed it before the answer was there.",
            "See what the server logged at that time.";
    }
    Address {
        AddressInvalid = "address-invalid",
            "The address is not a URL that can be used",
            "Servers are reached by `http://` or `https://`, with a host.",
            "Write it as `http://host:port/path`.";
        SchemeMissing = "scheme-missing",
            "The address has no `http://` or `https://` in front",
            "Without a scheme it is not an address but a name.",
            "Put the scheme in front.";
        NameUnresolved = "name-unresolved",
            "The host's name cannot be resolved",
            "The name service does not know it, or cannot be asked. In a container, the host's own names are not known.",
            "Correct the name, or check the network's name service.";
        ProxyNotUsed = "proxy-not-used",
            "A proxy is set in the environment, and the address cannot be reached without it",
            "MCP clients written for Node or Rust do not read `HTTP_PROXY` and `HTTPS_PROXY` by themselves; nor do we.",
            "Allow the address directly, or reach the server through a local tunnel.";
        PortRefused = "port-refused",
            "Nothing listens at that port",
            "The host answers, and refuses the connection.",
            "Start the server, or correct the port.";
        OtherAddressFamily = "other-address-family",
            "The server listens on the other kind of address (IPv4 or IPv6)",
            "`localhost` may mean 127.0.0.1 or ::1. A server that listens on one of them is not there on the other.",
            "Use the address on which it listens.";
        ConnectTimeout = "connect-timeout",
            "The host does not answer",
            "Neither a connection nor a refusal came: a firewall drops the packets, or the address is wrong.",
            "Check the address, the VPN and the firewall.";
        Unreachable = "unreachable",
            "There is no route to the host",
            "The network says that it cannot be reached.",
            "Check the network connection and the VPN.";
    }
    Security {
        TlsSelfSigned = "tls-self-signed",
            "The server's certificate is self-signed",
            "No authority that this machine trusts has signed it.",
            "Trust that certificate by name with --cacert, if it is yours.";
        TlsUnknownAuthority = "tls-unknown-authority",
            "The server's certificate comes from an authority that this machine does not trust",
            "It is a private authority (a company's, or a proxy that reads TLS), or the server does not send the certificates in between.",
            "Name the authority's certificate with --cacert, or let the server send its whole chain.";
        TlsWrongName = "tls-wrong-name",
            "The server's certificate is for another host",
            "The name in the address is not among the names in the certificate.",
            "Use a name that the certificate has.";
        TlsExpired = "tls-expired",
            "The server's certificate has expired",
            "Its validity period has ended, or the clock of one of the two machines is wrong.",
            "Renew the certificate; check the clock.";
        TlsNotYetValid = "tls-not-yet-valid",
            "The server's certificate is not valid yet",
            "Its validity period has not begun, or the clock of one of the two machines is wrong.",
            "Check the clock.";
        TlsOnPlainPort = "https-on-http-port",
            "The address says https, and the port speaks plain http",
            "The response is not TLS.",
            "Use `http://`, or the port that speaks TLS.";
        PlainOnTlsPort = "http-on-https-port",
            "The address says http, and the port speaks TLS",
            "A server that waits for TLS closes or refuses what begins otherwise.",
            "Use `https://`.";
        TlsClientCertificate = "tls-client-certificate",
            "The server wants a client certificate",
            "It refuses clients without a certificate that it accepts.",
            "Give one with --cert and --key.";
        TlsRoots = "tls-roots",
            "The trusted root certificates cannot be loaded",
            "A file is missing or holds no certificate, or the system has none.",
            "Correct the file, or install the system's ca-certificates.";
        TlsOther = "tls-failed",
            "The secure connection fails",
            "The two sides could not agree on one; the message says more.",
            "See the message; an outdated TLS version is the usual reason.";
    }
    Http {
        NotHttp = "not-http",
            "What listens at that port does not speak HTTP",
            "Its response is not HTTP.",
            "Correct the port.";
        ClosedAtOnce = "closed-at-once",
            "The connection is closed without an answer",
            "The server, or a proxy in front of it, accepted the connection and closed it.",
            "See what the server logged; check that the port is the server's own.";
        WrongPath = "wrong-path",
            "The server runs, but not at that path",
            "It answers with 404. The endpoint is mostly `/mcp`, for old servers `/sse`.",
            "Correct the path.";
        PostRefused = "post-refused",
            "The path takes no POST",
            "It answers with 405. An endpoint of Streamable HTTP takes POST; the stream of the old HTTP+SSE does not.",
            "Use the endpoint's own path.";
        RedirectLosesPost = "redirect-loses-post",
            "The server redirects in a way that loses the message",
            "After 301, 302 or 303, a POST is repeated as a GET without its body. A missing slash at the end, or http in place of https, is the usual reason.",
            "Use the address it redirects to.";
        RedirectElsewhere = "redirect-elsewhere",
            "The server redirects to another host or scheme",
            "Tokens and messages meant for this address are not sent to another one.",
            "If that is where the server lives now, use that address.";
        RedirectLoop = "redirect-loop",
            "The server redirects without end",
            "Each answer points to a further address.",
            "Correct the redirects of the server or the proxy in front of it.";
        NotAcceptable = "not-acceptable",
            "The server refuses the `Accept` header",
            "A client must accept `application/json` and `text/event-stream`, and this one does. A proxy changes the header, or the server wants it otherwise.",
            "See what the server asks for; check the proxy in between.";
        MediaTypeRefused = "media-type-refused",
            "The server refuses `Content-Type: application/json`",
            "That is the type of every message. It is not an MCP endpoint, or a proxy changes the header.",
            "Correct the path, or the proxy in between.";
        HtmlPage = "html-page",
            "The address answers with a web page",
            "It is a web site, or the page of a proxy; no MCP endpoint answers in HTML.",
            "Use the address of the MCP endpoint.";
        LoginPage = "login-page",
            "The address answers with a page to sign in at",
            "Something in front of the server wants a browser session, which no MCP client has.",
            "Let the path of the server through, or protect it with bearer tokens.";
        CdnChallenge = "cdn-challenge",
            "A content network wants proof that you are human",
            "Its page runs scripts in a browser. An MCP client cannot pass it.",
            "Take the server's path out of the bot protection.";
        NotMcp = "not-mcp",
            "The address answers, but not as an MCP server",
            "The answer is neither JSON-RPC nor an event stream with it.",
            "Correct the address.";
        RateLimited = "rate-limited",
            "The server answers: too many requests",
            "The limit of the account, the address or the proxy is used up.",
            "Wait as long as it says.";
        ServerError = "server-error",
            "The server has an internal error",
            "It answers with status 500 or another one of that kind.",
            "Read the server's log.";
        HeadTooLong = "head-too-long",
            "The head of the answer is too long",
            "Clients and proxies limit it to 8 to 64 KB; a long `WWW-Authenticate` or `Set-Cookie` is the usual reason.",
            "Shorten the headers of the answer.";
        BackendDown = "backend-down",
            "The proxy in front of the server cannot reach it",
            "502, 503 and 504 come from the proxy, not from the server.",
            "Start the server behind it; correct the proxy's address and time limit.";
        StreamHeld = "stream-held",
            "The event stream opens, and nothing comes through",
            "A proxy that collects an answer before it passes it on holds every event back.",
            "Turn response buffering off in the proxy for this path.";
        ForeignEndpoint = "foreign-endpoint",
            "The old event stream names an endpoint on another host",
            "Your headers would be sent to another origin than the one you named. A server behind a proxy often names its inner address.",
            "Let the server name a relative path, or its outer address.";
        HeadNeverCame = "http-no-answer",
            "The server takes the request and does not answer",
            "The connection is open, the request was sent, and no status came.",
            "See what the server does with the request; check the time limits of the proxy.";
        ContentEncoded = "content-encoded",
            "The answer is compressed although that was not asked for",
            "A proxy compresses without being asked.",
            "Turn compression off for this path.";
    }
    SignIn {
        SignInRequired = "sign-in-required",
            "The server requires authentication",
            "It answers with 401, and says where to sign in.",
            "Sign in with `trunkline auth login`, or give a token.";
        SignInMetadataMissing = "sign-in-metadata-missing",
            "The server wants a token and names no authorization server",
            "Neither its 401 nor its well-known address names an authorization server (RFC 9728), so clients cannot sign in by themselves.",
            "Give a token by hand; let the server publish its metadata.";
        SignInMetadataWrong = "sign-in-metadata-wrong",
            "The server's sign-in metadata is for another address",
            "Its `resource` is not the address you use, so clients must not ask for tokens with it.",
            "Correct `resource`, or use the address it names.";
        IssuerUnreachable = "issuer-unreachable",
            "The authorization server's metadata cannot be had",
            "The server names an authorization server, whose own metadata does not answer.",
            "Correct the name, or let it publish its metadata (RFC 8414).";
        IssuerMismatch = "issuer-mismatch",
            "The authorization server's metadata names another issuer",
            "`issuer` in its metadata is not the address under which it was found; clients refuse that.",
            "Correct `issuer`, or the address in `authorization_servers`.";
        NoPkce = "no-pkce",
            "The authorization server does not offer PKCE with S256",
            "MCP clients must use it, and refuse to sign in without.",
            "Offer `S256` in `code_challenge_methods_supported`.";
        ChallengeMissing = "challenge-missing",
            "The server's 401 has no `WWW-Authenticate` header",
            "Clients learn from it where to sign in (RFC 9728); some look nowhere else.",
            "Let the server send `WWW-Authenticate: Bearer resource_metadata=\"…\"`.";
        IssuerMoved = "issuer-moved",
            "The server names another authorization server than your login is for",
            "Tokens and client secrets go only to the issuer that they came from, so the login cannot be used any more.",
            "Sign in again if you trust the new authorization server.";
        EndpointUnusable = "sign-in-endpoint-unusable",
            "An address in the authorization server's metadata must not be used",
            "Clients open it or send secrets to it, so it must be `https`, or on this machine for a server on this machine.",
            "Correct the address in the authorization server's metadata.";
        NoRegistration = "no-registration",
            "The authorization server registers no clients, and none is configured",
            "A login needs a client id. Without registration (RFC 7591) or client-id metadata documents it must come from the operator.",
            "Register a client by hand, and write its id to `oauth.clientId`.";
        RegistrationRefused = "registration-refused",
            "The authorization server refuses to register a client",
            "It answers a registration (RFC 7591) with an error.",
            "Register a client by hand, and write its id to `oauth.clientId`.";
        RegistrationMalformed = "registration-malformed",
            "The answer to a registration cannot be used",
            "It is too large, or is not the JSON that RFC 7591 asks for.",
            "Register a client by hand, and write its id to `oauth.clientId`.";
        LoginDenied = "login-denied",
            "The login was refused",
            "The user did not consent, or the authorization server does not grant what was asked for.",
            "Consent, or ask for fewer scopes.";
        LoginAnswerWrong = "login-answer-wrong",
            "The answer to the login does not fit the request",
            "Its `state` or its `iss` (RFC 9207) is not as expected, as in an attack; so it is not used.",
            "Let the authorization server return `state` unchanged, and its own `issuer` as `iss`.";
        LoginUnfinished = "login-unfinished",
            "The login was not finished in time",
            "No answer came to our address on this machine.",
            "Repeat it, and finish the login in the browser.";
        TokenEndpointRefused = "token-endpoint-refused",
            "The token endpoint refuses to issue a token",
            "It answers the code of the login, or the credentials of the client, with an error.",
            "Do what the error says; check client id, secret and redirect address.";
        TokenEndpointDown = "token-endpoint-down",
            "The token endpoint does not work",
            "It cannot be reached, or answers with a server error.",
            "Try again later, or ask the operator of the authorization server.";
        TokenEndpointMalformed = "token-endpoint-malformed",
            "The answer of the token endpoint is not a token response",
            "It must be a JSON object with `access_token` (RFC 6749); a page for browsers is mostly that of a proxy.",
            "Correct the address of the token endpoint, or the proxy in front of it.";
        TokenTypeUnsupported = "token-type-unsupported",
            "The token is not a bearer token",
            "MCP servers take only tokens of the type `Bearer`.",
            "Let the authorization server issue bearer tokens.";
        TokenLifetimeOdd = "token-lifetime-odd",
            "The token response has no usable `expires_in`",
            "Clients cannot renew a token in time if they do not know its end; they notice it only when a call is refused.",
            "Let the authorization server send `expires_in` in seconds.";
        NoRefreshToken = "no-refresh-token",
            "There is no refresh token",
            "When the token expires, a user has to sign in again; unattended use ends then.",
            "Allow the client the grant `refresh_token`, or the scope `offline_access`.";
        RefreshRefused = "refresh-refused",
            "The authorization server refuses to renew the token",
            "The refresh token was revoked, has expired, or was used before.",
            "Sign in again.";
        RefreshDown = "refresh-down",
            "The token cannot be renewed at the moment",
            "The token endpoint cannot be reached, or answers with a server error; the refresh token is kept.",
            "Try again later, or ask the operator of the authorization server.";
        ScopeLoop = "scope-loop",
            "The server asks for scopes that the token has",
            "It refuses every token with `insufficient_scope`, so that no login helps.",
            "Let the server accept the scopes that it asks for.";
        TokenExpired = "token-expired",
            "The token you give has expired",
            "Its `exp` time has passed.",
            "Get a new one.";
        TokenAudience = "token-audience",
            "The token you give is for another server",
            "Its audience does not name this address.",
            "Ask for a token for this server (`resource` parameter).";
        TokenRefused = "token-refused",
            "The server refuses the token you give",
            "It answers with 401 although a token was sent.",
            "Check that it is whole, not revoked, and for this server.";
        ScopeMissing = "scope-missing",
            "The token you give does not allow enough",
            "The server names the scope that it misses.",
            "Ask for a token with that scope.";
        OriginRefused = "origin-refused",
            "The server refuses the `Origin` header",
            "It protects itself against web pages, and does not know this one.",
            "Leave the header out, or add the origin to those the server allows.";
        HostRefused = "host-refused",
            "The server refuses the name under which you reach it",
            "It protects itself against DNS rebinding, and knows only certain values of the `Host` header.",
            "Use a name it knows, or add yours to those it allows.";
        Forbidden = "forbidden",
            "The server denies access",
            "It answers with 403.",
            "Use an account or a token that may use it.";
        CredentialsInClear = "credentials-in-clear",
            "A credential would go over plain http to another machine",
            "Everybody in between could read it, so it was not sent.",
            "Use `https://`.";
    }
    Setup {
        ConfigurationInvalid = "configuration-invalid",
            "The configuration cannot be used",
            "It is not valid, so nothing in it counts.",
            "Correct it at the place named.";
        ClientFileInvalid = "client-file-invalid",
            "A client's configuration file cannot be read",
            "It is not valid JSON (or TOML), so that client starts none of its servers, often without a word.",
            "Correct it at the place named.";
        ServerEntryInvalid = "server-entry-invalid",
            "An entry of a client's file is neither a command nor an address",
            "The client cannot start it.",
            "Give it `command` (and `args`), or `url`.";
        UnpinnedPackage = "unpinned-package",
            "A server's package has no pinned version: every start may download a new one",
            "An attacker who takes over the package runs code here at the next start.",
            "Pin the version.";
        LookAlikePackage = "look-alike-package",
            "A package's name is almost that of a well-known one",
            "Names that differ by a letter are a way to have foreign code run.",
            "Compare the name letter by letter.";
        PipedDownload = "piped-download",
            "A server's command downloads something and runs it",
            "What runs is whatever the address serves at that moment.",
            "Download it once, look at it, and run the file.";
        InlineSecret = "inline-secret",
            "A configuration file contains a secret",
            "Everyone who can read the file, its backups or its repository can read it.",
            "Refer to a variable or the keychain instead.";
        FileReadableByOthers = "file-readable-by-others",
            "A file with secrets can be read by others on this machine",
            "Its permissions let other users read it.",
            "Take that right away with `chmod 600`.";
        KeychainUnavailable = "keychain-unavailable",
            "This system has no keychain",
            "No secret service answers on this system. Trunkline keeps secrets in a file that only you can read, and cannot seal it.",
            "Start one, if you want files to be sealed; `trunkline secret set NAME` and `{keychain:NAME}` work without it.";
        DefaultPortTaken = "default-port-taken",
            "The port that `serve` uses by default is taken",
            "Another process listens there.",
            "End that process, or serve elsewhere with `--listen`.";
    }
}

impl Cause {
    pub fn entry(self) -> &'static Entry {
        // Rows and variants have the same order: one macro generates both.
        &CAUSES[self as usize].1
    }

    pub fn id(self) -> &'static str {
        self.entry().id
    }
}

impl Serialize for Cause {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.id())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn ids_are_unique_plain_and_found() {
        let ids: HashSet<_> = CAUSES.iter().map(|(_, entry)| entry.id).collect();
        assert_eq!(ids.len(), CAUSES.len());
        for (cause, entry) in CAUSES {
            assert_eq!(cause.id(), entry.id);
            assert!(entry.id.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit() || b == b'-'));
        }
    }

    #[test]
    fn every_row_says_something_in_whole_sentences() {
        for (_, entry) in CAUSES {
            assert!(!entry.title.ends_with('.'), "{}", entry.id);
            assert!(entry.explanation.ends_with('.') && entry.fix.ends_with('.'), "{}", entry.id);
        }
    }
}
