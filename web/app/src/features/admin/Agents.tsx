import { useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { go } from '../../router.ts'
import { allPages } from '../../ui/allPages.ts'
import { Avatar } from '../../ui/Avatar.tsx'
import { Button } from '../../ui/Button.tsx'
import { Link } from '../../ui/Link.tsx'
import { useQuery } from '../../ui/useQuery.ts'
import { useFilter } from '../../ui/useFilter.tsx'

export function Agents() {
  const { client } = useStore()
  const { data, problem } = useQuery('agents', () => allPages((page) => client.agents.list(page)))
  const { field, found } = useFilter(data, 'Search agents')
  return (
    <div className="space-y-8">
      {problem && <p role="alert" className="text-bad">{problem}</p>}
      {field}
      <ul className="divide-y divide-line">
        {found.map((agent) => (
          <li key={agent.id}>
            <Link href={`/admin/agents/${agent.id}`} className="-mx-2 flex items-center gap-3 rounded-md px-2 py-2 hover:bg-hover">
              <Avatar id={agent.id} name={agent.name} type="agent" />
              <span className="min-w-0 flex-1">
                <bdi className="block truncate text-left leading-tight font-medium text-agent">{agent.name}</bdi>
                <span className="block truncate text-small leading-tight text-ink-soft">{modelName(agent.config)}</span>
              </span>
              <span className="text-small text-ink-soft">{String(agent.config['mind'] ?? '')}</span>
            </Link>
          </li>
        ))}
      </ul>
      <NewAgent />
    </div>
  )
}

function NewAgent() {
  const { client } = useStore()
  const [problem, setProblem] = useState('')
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    try {
      const made = await client.agents.create({ name: String(new FormData(event.currentTarget).get('name')).trim(), config: {} })
      go(`/admin/agents/${made.id}`)
    } catch (error) {
      setProblem((error as Error).message)
    }
  }
  return (
    <form className="space-y-2 border-t border-line pt-5" onSubmit={(event) => void create(event)}>
      <h3 className="text-large">Add agent</h3>
      <div className="flex gap-2">
        <input name="name" required maxLength={64} autoComplete="off" aria-label="Name" placeholder="Name" className="field max-w-xs" />
        <Button type="submit" look="primary">Add</Button>
      </div>
      <p className="text-small text-ink-soft">New agents use the demo model, which needs no API key. You can change it next.</p>
      <p role="alert" className="text-small text-bad">{problem}</p>
    </form>
  )
}

function modelName(config: Readonly<Record<string, unknown>>): string {
  const model = config['model']
  return typeof model === 'string' ? model : String((model as { name?: unknown } | null)?.name ?? '')
}
