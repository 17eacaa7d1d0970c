import { useMe, useStore } from '@majlis/client/react'
import type { ReactNode } from 'react'

import { plural, t } from '../../language/words.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { dot } from '../../ui/format.ts'
import { Link } from '../../ui/Link.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { fullTime } from '../../ui/time.ts'
import { useQuery } from '../../ui/useQuery.ts'
import { Cycles } from './Cycles.tsx'
import { UsageByDay } from './UsageByDay.tsx'
import { UsageByRun } from './UsageByRun.tsx'

/** Goals, memories, plans and usage of an agent, for administrators and the agent itself. */
export function AgentView({ agentId }: { agentId: string }) {
  const me = useMe()!
  if (me.role !== 'member' || me.id === agentId) return <Details agentId={agentId} />
  return <p className="text-small text-ink-soft">{t('Only administrators can see an agent’s goals, memories and plans. Open Runs to see what it does in this space.')}</p>
}

function Details({ agentId }: { agentId: string }) {
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
  if (!data) return <QueryStatus problem={problem} />
  const { entity, goals, memories, plans, usage, days, runs } = data
  return (
    <div className="space-y-5">
      <h3 className="flex items-center gap-3 text-large">
        <Avatar id={entity.id} name={entity.name} type={entity.type} picture={entity.picture} />
        <bdi className="min-w-0 flex-1 truncate text-along">{entity.name}</bdi>
        {me.role !== 'member' && <Link href={`/admin/agents/${agentId}`} className="font-sans text-small font-normal text-link underline underline-offset-4">{t('Edit')}</Link>}
      </h3>
      <p className="text-small text-ink-soft">
        {plural(usage.runs, '{n} run', '{n} runs')}{dot()}{plural(usage.requests, '{n} request', '{n} requests')}{dot()}{plural(usage.inputTokens, '{n} input token', '{n} input tokens')} ({t('{n} cached', { n: usage.cachedTokens })}){dot()}{plural(usage.outputTokens, '{n} output token', '{n} output tokens')}
      </p>
      <UsageByDay days={days} />
      <UsageByRun runs={runs} />
      <Section title={t('Goals')} empty={t('No goals')}>
        {goals.map((goal) => <li key={goal.id} className={goal.status === 'completed' ? 'text-ink-soft line-through' : ''}>{goal.description}</li>)}
      </Section>
      <Section title={t('Memories')} empty={t('No memories')}>
        {memories.map((memory) => <li key={memory.key}><b className="font-semibold">{memory.key}</b>: {memory.value}</li>)}
      </Section>
      <Section title={t('Plans')} empty={t('No plans')}>
        {plans.map((plan) => (
          <li key={plan.id} className={plan.status === 'completed' ? 'text-ink-soft line-through' : ''}>
            <b className="font-semibold">{plan.name}</b>: {plan.instruction}
            {plan.nextAt && <span className="block text-ink-soft">{t('Next run: {time}', { time: fullTime(plan.nextAt) })}</span>}
          </li>
        ))}
      </Section>
      <Cycles agentId={agentId} />
    </div>
  )
}

function Section({ title, empty, children }: { title: string; empty: string; children: ReactNode[] }) {
  return (
    <section>
      <h4 className="mb-1 font-sans text-small text-ink-soft">{title}</h4>
      {children.length > 0 ? <ul className="space-y-1.5 text-small">{children}</ul> : <p className="text-small text-ink-soft">{empty}</p>}
    </section>
  )
}
