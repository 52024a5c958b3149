// The one place that loads the git library: half a megabyte that is parsed when a remote is asked what it has.
export { listServerRefs } from 'isomorphic-git'
