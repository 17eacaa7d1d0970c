import { useStore } from '@majlis/client/react'
import { useState, type KeyboardEvent, type ReactNode } from 'react'

import { t } from '../../language/words.ts'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Trash } from '../../ui/icons.tsx'
import { QueryStatus } from '../../ui/QueryStatus.tsx'
import { toast } from '../../ui/toast.tsx'
import { useQuery } from '../../ui/useQuery.ts'

/** Memories, goals and plans of an agent. Administrators correct and delete them; each change counts at once. */
export function Memories({ agentId }: { agentId: string }) {
  const { client } = useStore()
  const { data, problem, reload } = useQuery(`kept ${agentId}`, async () => {
    const [memories, goals, plans] = await Promise.all([client.agents.memories(agentId), client.agents.goals(agentId), client.agents.plans(agentId)])
    return { memories, goals, plans }
  })
  if (!data) return <QueryStatus problem={problem} />
  const attempt = (work: Promise<unknown>, done: string) =>
    work.then(() => {
      toast(done)
      reload()
    }, (error: Error) => toast(error.message))
  return (
    <div className="space-y-6">
      <List title={t('Memories')} about={t('The agent wrote these down for later. It sees them in every prompt.')} empty={data.memories.length === 0}>
        {data.memories.map(({ key, value }) => (
          <Memory key={`${key} ${value}`} name={key} value={value} onSave={(changed) => attempt(client.agents.putMemory(agentId, key, changed), t('Memory saved'))} onDelete={() => attempt(client.agents.deleteMemory(agentId, key), t('Memory deleted'))} />
        ))}
      </List>
      <AddMemory onAdd={(key, value) => attempt(client.agents.putMemory(agentId, key, value), t('Memory added'))} />
      <List title={t('Goals')} about={t('The agent works towards these.')} empty={data.goals.length === 0}>
        {data.goals.map((goal) => <Kept key={goal.id} label={goal.description} onDelete={() => attempt(client.agents.deleteGoal(agentId, goal.id), t('Goal deleted'))}>{goal.description}{goal.status === 'completed' && ` ${t('(completed)')}`}</Kept>)}
      </List>
      <List title={t('Plans')} about={t('The agent will start a run at these times.')} empty={data.plans.length === 0}>
        {data.plans.map((plan) => <Kept key={plan.id} label={plan.name} onDelete={() => attempt(client.agents.deletePlan(agentId, plan.id), t('Plan deleted'))}><b className="font-semibold">{plan.name}</b>: {plan.instruction}</Kept>)}
      </List>
    </div>
  )
}

function List({ title, about, empty, children }: { title: string; about: string; empty: boolean; children: ReactNode }) {
  return (
    <section aria-label={title}>
      <h4 className="font-sans text-small font-semibold">{title}</h4>
      <p className="mb-2 text-small text-ink-soft">{about}</p>
      {empty ? <p className="text-small text-ink-soft">{t('None')}</p> : <ul className="divide-y divide-line">{children}</ul>}
    </section>
  )
}

function Memory({ name, value, onSave, onDelete }: { name: string; value: string; onSave: (value: string) => void; onDelete: () => void }) {
  const [text, setText] = useState(value)
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1 py-2 text-small md:flex-nowrap">
      <b className="w-full pt-1.5 font-semibold break-words md:w-40 md:shrink-0">{name}</b>
      <textarea rows={Math.min(6, Math.ceil(text.length / 60) || 1)} aria-label={t('Memory {name}', { name })} value={text} className="field min-w-0 flex-1 py-1.5" onChange={(event) => setText(event.target.value)} />
      {text !== value && <Button onClick={() => onSave(text)}>{t('Save')}</Button>}
      <IconButton label={t('Delete memory {name}', { name })} className="size-8" onClick={onDelete}><Trash className="size-4" /></IconButton>
    </li>
  )
}

/** Not a form of its own: it stands in the form of the agent. */
function AddMemory({ onAdd }: { onAdd: (key: string, value: string) => void }) {
  const [name, setName] = useState('')
  const [value, setValue] = useState('')
  const ready = name.trim() !== '' && value.trim() !== ''
  const add = () => {
    if (!ready) return
    onAdd(name.trim(), value.trim())
    setName('')
    setValue('')
  }
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.key !== 'Enter') return
    event.preventDefault()
    add()
  }
  return (
    <div className="flex flex-wrap gap-2 text-small">
      <input aria-label={t('Name of the memory')} placeholder={t('Name')} autoComplete="off" value={name} className="field w-40 py-1.5" onChange={(event) => setName(event.target.value)} onKeyDown={onKeyDown} />
      <input aria-label={t('Text of the memory')} placeholder={t('What to remember')} autoComplete="off" value={value} className="field min-w-40 flex-1 py-1.5" onChange={(event) => setValue(event.target.value)} onKeyDown={onKeyDown} />
      <Button disabled={!ready} onClick={add}>{t('Add memory')}</Button>
    </div>
  )
}

function Kept({ label, onDelete, children }: { label: string; onDelete: () => void; children: ReactNode }) {
  return (
    <li className="flex items-start gap-3 py-1.5 text-small">
      <span className="min-w-0 flex-1 break-words">{children}</span>
      <IconButton label={t('Delete {label}', { label })} className="size-8" onClick={onDelete}><Trash className="size-4" /></IconButton>
    </li>
  )
}
