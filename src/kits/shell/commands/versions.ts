// `--version`: the program whose options and messages a command has. Scripts use it to detect GNU's tools.

const GROUPS: Readonly<Record<string, string>> = {
  '(GNU coreutils) 9.1': `b2sum base32 base64 basename basenc cat chgrp chmod chown cksum comm cp csplit cut date dd df dirname du
    expand expr factor fmt fold head install join link ln ls md5sum mkdir mv nl numfmt od paste pr readlink realpath rm rmdir seq
    sha1sum sha224sum sha256sum sha384sum sha512sum shuf sort split stat sum sync tac tail tee touch tr truncate tsort unexpand
    uniq unlink wc`,
  '(GNU findutils) 4.9.0': 'find xargs',
  '(GNU diffutils) 3.8': 'cmp diff diff3 sdiff',
  '(GNU grep) 3.8': 'egrep fgrep grep',
  '(GNU tar) 1.34': 'tar',
}

/** Programs with another name in their version. */
const OTHERS: Readonly<Record<string, string>> = {
  ...{ gzip: 'gzip 1.12', gunzip: 'gunzip (gzip) 1.12', zcat: 'zcat (gzip) 1.12', patch: 'GNU patch 2.7.6' },
  ...{ zip: 'Zip 3.0', curl: 'curl 7.88.1', tree: 'tree v2.1.0' },
}

const LINES: ReadonlyMap<string, string> = new Map([
  ...Object.entries(GROUPS).flatMap(([group, names]) =>
    names.split(/\s+/).map((name): [string, string] => [name, `${name} ${group}`]),
  ),
  ...Object.entries(OTHERS),
])

/** Null for a command without the option, or with its own answer. */
export function versionText(name: string, args: readonly string[]): string | null {
  const line = args.length === 1 && args[0] === '--version' ? LINES.get(name) : undefined
  return line === undefined ? null : `${line} compatible, of Bellwether\n`
}
