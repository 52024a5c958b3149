export const GIT_HOSTS = `---
name: git-hosts
version: 1.0.0
triggers:
  - github
  - gitlab
  - bitbucket
  - pull request
  - merge request
---
# Working with a repository on a git host

- Use \`git\` over https. There is no ssh here, so rewrite an address like \`git@host:owner/name.git\` to
  \`https://host/owner/name.git\`.
- When the owner has stored a token for the host, it stands in the environment as \`GITHUB_TOKEN\`, \`GITLAB_TOKEN\` or
  \`BITBUCKET_TOKEN\`. Never print it, never write it into a file, a commit, a remote address or a message.
- Command line clients of the hosts (\`gh\`, \`glab\`) do not exist here. Ask for a pull or merge request through the tool
  that is offered for it; without one, push the branch and tell the user what to open.
- Work on a branch of its own. Never push to the default branch, never force a push and never rewrite published history
  unless the user asked for exactly that.
- Before a commit, look at \`git status\` and \`git diff\`, and add files by name, so that nothing goes in by accident. Keep
  one idea to a commit and say in its message why.
- Once a branch has been pushed for the user to review, add commits to it instead of opening a second one.
`
