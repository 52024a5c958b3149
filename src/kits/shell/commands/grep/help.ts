// The output of `grep --help` and `grep -V`.

export const VERSION = 'grep (GNU grep) 3.8\n'

export const HELP = `Usage: grep [OPTION]... PATTERNS [FILE]...
Search for PATTERNS in each FILE.
Example: grep -i 'hello world' menu.h main.c
PATTERNS can contain multiple patterns separated by newlines.

  -E -F -G -P               extended, fixed, basic, Perl's patterns
  -e PATTERNS  -f FILE      patterns here, or one on each line of a file
  -i -w -x -v -z            any case, whole words, whole lines, lines that do not match, lines that end with NUL
  -m NUM -b -n -H -h -o -q -s -L -l -c -T -Z  --label=LABEL
  -a -I --binary-files=TYPE -d ACTION -D ACTION -r -R
  --include=GLOB --exclude=GLOB --exclude-from=FILE --exclude-dir=GLOB
  -B NUM -A NUM -C NUM -NUM --group-separator=SEP --no-group-separator --color[=WHEN]
`
