// The one place that loads the git library: half a megabyte that is parsed when something is fetched or pushed.
export { fetch, listServerRefs, push } from 'isomorphic-git'
