import { useMe, useStore } from '@majlis/client/react'
import type { ReactNode } from 'react'

import { Avatar } from '../../ui/Avatar.tsx'
import { Link } from '../../ui/Link.tsx'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { Cycles } from './Cycles.tsx'
import { count, some } from './runText.tsx'
import { UsageByDay } from './UsageByDay.tsx'
import { UsageByRun } from './UsageByRun.tsx'

/** What an agent holds: goals, memories, plans, and what it has used. For administrators, and the agent itself. */
export function AgentView({ agentId }: { agentId: string }) {
  const me = useMe()!
  if (me.role !== 'member' || me.id === agentId) return <Held agentId={agentId} />
  return <p className="text-small text-ink-soft">What an agent remembers, wants and plans is shown to the administrators of this gateway. What it does here, and why, stands under Runs.</p>
}

function Held({ agentId }: { agentId: string }) {
  const { client } = useStore()
  const me = useMe()!
  const { data, problem } = useQuery(agentId, async () => {
    const [entity, goals, memories, plans, usage, days, { runs }] = await Promise.all([
      client.entities.get(agentId),
      client.agents.goals(agentId),
      client.agents.memories(agentId),
      client.agents.plans(agentId),
      client.agents.usage(agentId),
      client.agents.usageByDay(agentId, { days: 30 }),
      client.runs.list({ agentId, limit: 50 }),
    ])
    return { entity, goals, memories, plans, usage, days, runs }
  })
  if (problem) return <p role="alert" className="text-small text-ink-soft">{problem}</p>
  if (!data) return <p className="text-small text-ink-soft">Looking…</p>
  const { entity, goals, memories, plans, usage, days, runs } = data
  return (
    <div className="space-y-5">
      <h3 className="flex items-center gap-3 text-large">
        <Avatar id={entity.id} name={entity.name} type={entity.type} />
        <bdi className="min-w-0 flex-1 truncate text-left">{entity.name}</bdi>
        {me.role !== 'member' && <Link href={`/admin/agents/${agentId}`} className="font-sans text-small font-normal text-warm underline underline-offset-4">Change</Link>}
      </h3>
      <p className="text-small text-ink-soft">
        {some(usage.runs, 'run')}, {some(usage.requests, 'request')}, {count(usage.inputTokens)} tokens in ({count(usage.cachedTokens)} cached), {count(usage.outputTokens)} out.
      </p>
      <UsageByDay days={days} />
      <UsageByRun runs={runs} />
      <Part title="Goals" none="No goals.">
        {goals.map((goal) => <li key={goal.id} className={goal.status === 'completed' ? 'text-ink-soft line-through' : ''}>{goal.description}</li>)}
      </Part>
      <Part title="Memories" none="It remembers nothing yet.">
        {memories.map((memory) => <li key={memory.key}><b className="font-semibold">{memory.key}</b>: {memory.value}</li>)}
      </Part>
      <Part title="Plans" none="No plans.">
        {plans.map((plan) => (
          <li key={plan.id} className={plan.status === 'completed' ? 'text-ink-soft line-through' : ''}>
            <b className="font-semibold">{plan.name}</b>: {plan.instruction}
            {plan.nextAt && <span className="block text-ink-soft">next {fullTime(plan.nextAt)}</span>}
          </li>
        ))}
      </Part>
      <Cycles agentId={agentId} />
    </div>
  )
}

function Part({ title, none, children }: { title: string; none: string; children: ReactNode[] }) {
  return (
    <section>
      <h4 className="mb-1 font-sans text-small text-ink-soft">{title}</h4>
      {children.length > 0 ? <ul className="space-y-1.5 text-small">{children}</ul> : <p className="text-small text-ink-soft">{none}</p>}
    </section>
  )
}
