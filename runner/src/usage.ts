export const USAGE = `bellwether-runner: lends this machine's processes to conversations of a Bellwether service.

  bellwether-runner --url https://bellwether.example --key-file FILE

It opens connections outwards only and listens on no port.

  --url URL            the service
  --key KEY            the key with the scope "runner"; others on this machine can see it in the list of processes,
  --key-file FILE      so better in a file
  --name NAME          how it is shown (default: the machine's name)
  --labels A,B         what conversations can ask for
  --capacity N         conversations at a time (default 4)
  --isolation WHICH    bwrap (default), or none: commands then run with your rights, in your files
  --network WHICH      none, list (default) or all
  --allow HOST,…       adds hosts to the list of package registries and git hosts; with = in front it replaces them;
                       *.example.com means every name below. An address of a private network must be named
  --workspaces DIR     where the copies are kept (default ~/.bellwether-runner)
  --user NAME          whom it becomes when root starts it (default: bellwether, or uid 61500)
  --disk SIZE          of one conversation (default 10G)
  --memory SIZE        of one conversation, where the system can count it (default 4G)
  --cpus N             cores' worth of processor time of one conversation, where the system can count it
                       (default: all of them but a fifth of one)
  --processes N        of one conversation (default 512)
  --idle MINUTES       after which a notebook's kernel that nobody uses is ended (default 60, 0 for never)
  --browser-idle MINUTES  the same for a browser (default 15)
  --once               ends when the first conversation is over
  --help, --version

Each option can be a variable of the environment instead: BELLWETHER_RUNNER_URL, BELLWETHER_RUNNER_KEY_FILE, …
SIGTERM or SIGINT lets running commands finish, takes nothing new and ends; a second one ends at once.
SIGUSR2 interrupts after a second what runs, tells how it came out, and ends.
`
