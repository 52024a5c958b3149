// Programs that need a machine with processes, which this shell does not have. The message about each, with an
// alternative, is defined only here.

const NO_PROCESSES = 'not available here: the embedded shell has no processes'
const ELSEWHERE = 'connect a runner, which runs it on a real machine'

const INSTEAD: readonly (readonly [names: RegExp, advice: string])[] = [
  [/^(python|pypy|ipython)[\d.]*$|^(perl|ruby|php|lua|Rscript|julia|deno|bun)$/, `Use node, or ${ELSEWHERE}.`],
  [
    /^(pip|pipx|uv|conda|mamba|poetry|pytest|tox|ruff|mypy|black|flake8)[\d.]*$/,
    `There is no Python: use node, or ${ELSEWHERE}.`,
  ],
  [
    /^(npm|npx|yarn|pnpm|corepack)$/,
    `Run programs with \`node file.js\` and tests with \`node --test\`; to install packages, ${ELSEWHERE}.`,
  ],
  [
    /^(tsc|ts-node|tsx|eslint|prettier|jest|vitest|vite|webpack|esbuild)$/,
    `\`node --test\` runs tests of plain JavaScript; otherwise ${ELSEWHERE}.`,
  ],
  [/^(apt|apt-get|apt-cache|aptitude|dpkg|apk|yum|dnf|brew|snap|pacman)$/, `Nothing can be installed; ${ELSEWHERE}.`],
  [/^(sudo|su|doas|chroot)$/, 'There is one user, who may do all that can be done here.'],
  [
    /^(docker|docker-compose|podman|kubectl|helm|systemctl|service|crontab|at|screen|tmux|ssh|scp|rsync)$/,
    `Nothing goes on in the background and no other machine is reached; ${ELSEWHERE}.`,
  ],
  [
    /^(make|cmake|ninja|gcc|g\+\+|cc|c\+\+|clang|clang\+\+|ld|gdb|strace|valgrind|autoconf|pkg-config)(-[\d.]+)?$/,
    `There is no compiler; ${ELSEWHERE}.`,
  ],
  [
    /^(cargo|rustc|rustup|go|gofmt|java|javac|mvn|gradle|kotlin|kotlinc|scala|sbt|dotnet|swift|ghc|stack|gem|bundle|rake|composer|mix|elixir)$/,
    `There is no such language here; ${ELSEWHERE}.`,
  ],
  [/^(sqlite3|psql|mysql|redis-cli|mongosh|mongo)$/, `There are no databases; ${ELSEWHERE}.`],
  [
    /^(wget|nc|ncat|telnet|ping|dig|nslookup|ifconfig|ip|netstat|ss|lsof)$/,
    `Use curl for requests; otherwise ${ELSEWHERE}.`,
  ],
  [
    /^(ps|top|htop|pgrep|pkill|killall|free|vmstat|uptime|dmesg|mount|umount|lscpu)$/,
    'There is nothing that it could show or end.',
  ],
  [
    /^(gh|glab|hub|aws|gcloud|az|terraform|ansible|vercel|wrangler)$/,
    `Use git, curl and the agent's own tools; otherwise ${ELSEWHERE}.`,
  ],
  [
    /^(bzip2|bunzip2|bzcat|xz|unxz|xzcat|lzma|unlzma|zstd|unzstd|zstdcat|lz4|7z|7za|7zr|rar|unrar)$/,
    'Use gzip, tar -z or zip.',
  ],
  [/^(vi|vim|nvim|nano|pico|emacs|ed|ex)$/, 'Use the editor tool, sed or a here-document.'],
  [/^(fd|fdfind|locate)$/, 'Use find.'],
  [/^(ag|ack|ugrep|fzf)$/, 'Use rg or grep.'],
  [/^(bat|batcat|hexyl|glow)$/, 'Use cat.'],
  [/^(exa|eza|lsd|dust)$/, 'Use ls, tree or du.'],
  [/^(delta|colordiff|icdiff|vimdiff|meld)$/, 'Use diff or git diff.'],
  [
    /^(yq|tomlq|dasel|gron|mlr|xsv|csvcut|htmlq|pup|xmllint|xmlstarlet)$/,
    'Use jq for JSON, and awk or node for the rest.',
  ],
  [/^(bsdtar|cpio|ar|pax)$/, 'Use tar or zip.'],
  [/^(openssl|gpg|age|ssh-keygen)$/, 'Use sha256sum and base64, or `node:crypto`.'],
  [/^(uuencode|uudecode)$/, 'Use base64.'],
  [/^(man|info|apropos|whatis|tldr)$/, `Many commands have --help; otherwise ${ELSEWHERE}.`],
  [
    /^(watch|entr|script|expect|unbuffer|stty|w|last)$/,
    'There is no terminal, and nothing changes between two commands.',
  ],
  [/^dc$/, 'Use bc.'],
  [/^(cal|ncal)$/, 'Use date.'],
  [/^parallel$/, 'Use xargs or a loop.'],
  [/^(http|https|httpie|aria2c|wget2)$/, 'Use curl.'],
  [/^(shellcheck|shfmt|yamllint|jsonlint|hadolint)$/, '`bash -n` and `jq .` tell whether a file can be read at all.'],
  [/^(pandoc|ffmpeg|convert|magick|inkscape)$/, `There is no such program; ${ELSEWHERE}.`],
]

/** One line for a command that needs a machine; null for any other. */
export function machineAdvice(name: string): string | null {
  const advice = INSTEAD.find(([names]) => names.test(name))?.[1]
  return advice === undefined ? null : `${name}: ${NO_PROCESSES}. ${advice}`
}
