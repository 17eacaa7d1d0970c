/** A house on an ordinary day, for pictures and for checks that look at every page. */
import type { Space } from '@majlis/client'

import type { House, Person } from './testApp.ts'

export interface Scene {
  lina: Person
  ada: Person
  project: Space
  writing: () => Promise<void>
}

const PLAN = `Here is where the launch stands:

| Part | State | Who |
| --- | --- | --- |
| Docs | done | Omar |
| Billing page | in review | Lina |
| Status page | **open** | Scout |

The rollback is one command, and I have tried it twice:

\`\`\`bash
majlis export --out backup.jsonl
git checkout v0.9 && make run   # about 40 s
\`\`\`
`

export async function scene(house: House): Promise<Scene> {
  const [lina, omar, ada, scout] = [await house.person('Lina'), await house.person('Omar'), await house.agent('Ada'), await house.agent('Scout')]
  const everyone = [lina, omar, ada, scout]
  const quiet = { triggers: 'mentioned' } as const
  const family = await house.space('Family', [lina, omar], quiet)
  const ideas = await house.space('Garden ideas', [lina, ada], { ...quiet, description: 'What to plant, and where' })
  const project = await house.space('Project Alpha', everyone, { ...quiet, description: 'Everything about the launch on Thursday' })
  await omar.client.messages.post(family.id, { text: 'I will bring the tea. Who has the samovar?' })
  await ada.client.messages.post(ideas.id, { text: 'Rosemary wants sun and little water: the wall behind the kitchen is right for it.' })
  const say = (who: Person, text: string, replyTo?: string) => who.client.messages.post(project.id, { text, ...(replyTo ? { replyTo } : {}) })
  await say(omar, 'Morning! The docs are ready to read. I rewrote the first page, it is half as long now.')
  await say(omar, 'Could somebody look at the part about tokens?')
  const asked = await say(lina, 'I will. Ada, where are we with the launch?')
  await say(ada, PLAN, asked.id)
  await say(lina, 'That is a relief. Let us keep **Thursday** then.')
  house.model.understand({ 'what is left for Thursday?': 'hold: Three things are left for Thursday:\n\n1. **Status page**: the checks are written, the page itself is not. I begin with it now.\n2. Billing page: waits for the review by @Lina, which I think takes an hour.\n3. The announcement, once both are done, and a last look at the rollback before it goes out.' })
  const writing = async () => {
    await lina.client.messages.post(project.id, { text: '@Scout what is left for Thursday?', mentions: [scout.id] })
  }
  return { lina, ada, project, writing }
}

/** A space in which everything is asked at once, and something has failed. */
export async function cards(house: House, lina: Person): Promise<string> {
  const tools = [
    { name: 'approve', description: 'Asks for a yes.', type: 'space', ui: 'approval' },
    { name: 'choose', description: 'Asks which.', type: 'space', ui: 'choice', execution: { options: ['Tea', 'Coffee'] } },
    {
      name: 'fill', description: 'Asks for facts.', type: 'space', ui: 'form',
      inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
      execution: { resultSchema: { type: 'object', properties: { guests: { type: 'integer', title: 'Guests' }, day: { type: 'string', format: 'date', title: 'Day' }, sure: { type: 'boolean', title: 'Sure' } }, required: ['guests'] } },
    },
  ]
  const iris = await house.agent('Iris', { tools })
  const space = await house.space('Cards', [lina, iris])
  for (const text of ['fail: no key', 'approve: May I send the invitations?', 'choose: What shall we drink?', 'fill: Who comes?']) await lina.client.messages.post(space.id, { text })
  return space.id
}
