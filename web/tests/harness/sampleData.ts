/** Realistic data for screenshots and for checks that visit every page. */
import type { Space } from '@majlis/client'

import type { Person, TestApp } from './testApp.ts'

export interface SampleData {
  lina: Person
  ada: Person
  project: Space
  startWriting: () => Promise<void>
}

const PLAN = `Here is the status of the launch:

| Part | Status | Owner |
| --- | --- | --- |
| Docs | done | Omar |
| Billing page | in review | Lina |
| Status page | **open** | Scout |

The rollback takes two commands. I have tested it twice:

\`\`\`bash
majlis export --out backup.jsonl
git checkout v0.9 && make run   # about 40 s
\`\`\`
`

export async function sampleData(app: TestApp): Promise<SampleData> {
  const [lina, omar, ada, scout] = [await app.person('Lina'), await app.person('Omar'), await app.agent('Ada'), await app.agent('Scout')]
  const everyone = [lina, omar, ada, scout]
  const quiet = { triggers: 'mentioned' } as const
  const family = await app.space('Family', [lina, omar], quiet)
  const ideas = await app.space('Garden ideas', [lina, ada], { ...quiet, description: 'What to plant, and where' })
  const project = await app.space('Project Alpha', everyone, { ...quiet, description: 'Everything about the launch on Thursday' })
  await omar.client.messages.post(family.id, { text: 'I’ll bring the tea. Who has the samovar?' })
  await ada.client.messages.post(ideas.id, { text: 'Rosemary needs sun and little water, so plant it along the wall behind the kitchen.' })
  const send = (sender: Person, text: string, replyTo?: string) => sender.client.messages.post(project.id, { text, ...(replyTo ? { replyTo } : {}) })
  await send(omar, 'Morning! The docs are ready for review. I rewrote the first page, and it is half as long now.')
  await send(omar, 'Could someone review the part about tokens?')
  const asked = await send(lina, 'I will. Ada, where are we with the launch?')
  await send(ada, PLAN, asked.id)
  await send(lina, 'Great. Let’s keep **Thursday** then.')
  app.model.interpret({ 'what is left for Thursday?': 'hold: Three things are left for Thursday:\n\n1. **Status page**: the checks are written, the page itself is not. I am starting on it now.\n2. Billing page: needs a review by @Lina, which should take about an hour.\n3. The announcement, once both are done, and a last look at the rollback before it goes out.' })
  const startWriting = async () => {
    await lina.client.messages.post(project.id, { text: '@Scout what is left for Thursday?', mentions: [scout.id] })
  }
  return { lina, ada, project, startWriting }
}

/** A space with every kind of card, and a failed run. */
export async function cards(app: TestApp, lina: Person): Promise<string> {
  const tools = [
    { name: 'approve', description: 'Asks for approval.', type: 'space', ui: 'approval' },
    { name: 'choose', description: 'Asks for a choice.', type: 'space', ui: 'choice', execution: { options: ['Tea', 'Coffee'] } },
    {
      name: 'fill', description: 'Asks for details.', type: 'space', ui: 'form',
      inputSchema: { type: 'object', properties: { question: { type: 'string' } } },
      execution: { resultSchema: { type: 'object', properties: { guests: { type: 'integer', title: 'Guests' }, day: { type: 'string', format: 'date', title: 'Day' }, final: { type: 'boolean', title: 'Final count' } }, required: ['guests'] } },
    },
  ]
  const iris = await app.agent('Iris', { tools })
  const space = await app.space('Cards', [lina, iris])
  for (const text of ['fail: no key', 'approve: May I send the invitations?', 'choose: What should we order?', 'fill: How many guests are coming?']) await lina.client.messages.post(space.id, { text })
  return space.id
}
