// The one place that loads the shell: half a megabyte that is parsed when the first script runs.
export { Bash, defineCommand, getCommandNames } from 'just-bash/browser'
