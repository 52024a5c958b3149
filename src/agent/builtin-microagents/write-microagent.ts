export const WRITE_MICROAGENT = `---
name: write-microagent
version: 1.0.0
inputs:
  - name: subject
    description: What the new microagent is to tell the agent
  - name: occasion
    description: When it matters - always, or the words in a message that should bring it up
---
Write a microagent for this project about the given subject.

1. Read what is there: the files in \`.bellwether/microagents\` and whatever in the project bears on the subject. If a file
   already covers it, extend that one instead.
2. Write \`.bellwether/microagents/<short-name>.md\`. For one that always holds, plain Markdown is enough. For one that is
   brought up by words, begin the file with front matter:

       ---
       name: <short-name>
       triggers:
         - <word>
       ---

   A trigger matches anywhere in a message, also inside other words: choose words that mean only this.
3. State facts and rules, each checked against the project: commands that work, where things lie, what must not be done
   and why. Leave out what any developer knows, and never put a secret in.
4. Show the finished file to the user.
`
