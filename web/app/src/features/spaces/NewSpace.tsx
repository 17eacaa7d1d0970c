import { useStore } from '@majlis/client/react'
import { useState, type FormEvent } from 'react'

import { go, inspect, spacePath } from '../../router.ts'
import { Button, IconButton } from '../../ui/Button.tsx'
import { Dialog } from '../../ui/Dialog.tsx'
import { Plus } from '../../ui/icons.tsx'

/** A plus, or a button that says so where there is room and nothing else to do. */
export function NewSpace({ words }: { words?: string }) {
  const [open, setOpen] = useState(false)
  const begin = () => setOpen(true)
  return (
    <>
      {words ? <Button look="primary" onClick={begin}>{words}</Button> : <IconButton label="New space" onClick={begin}><Plus /></IconButton>}
      {open && <Dialog title="A new space" onClose={() => setOpen(false)}><NewSpaceForm onDone={() => setOpen(false)} /></Dialog>}
    </>
  )
}

function NewSpaceForm({ onDone }: { onDone: () => void }) {
  const store = useStore()
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const create = async (event: FormEvent<HTMLFormElement>) => {
    event.preventDefault()
    const form = new FormData(event.currentTarget)
    setBusy(true)
    try {
      const space = await store.client.spaces.create({ name: String(form.get('name')).trim(), description: String(form.get('description')).trim() })
      await store.loading.space(space.id)
      go(spacePath(space.id))
      inspect({ kind: 'members' })
      onDone()
    } catch (error) {
      setProblem((error as Error).message)
      setBusy(false)
    }
  }
  return (
    <form className="space-y-4 p-5 pt-3" onSubmit={(event) => void create(event)}>
      <p className="text-small text-ink-soft">People and agents in it hear what is said there, and nobody else does.</p>
      <label className="block">
        <span className="mb-1 block text-small font-semibold">Name</span>
        <input name="name" autoFocus required maxLength={64} autoComplete="off" className="field" />
      </label>
      <label className="block">
        <span className="mb-1 block text-small font-semibold">What is it for? <span className="font-normal text-ink-soft">If you like</span></span>
        <input name="description" autoComplete="off" className="field" />
      </label>
      <p role="alert" className="text-small text-bad">{problem}</p>
      <div className="flex justify-end gap-2">
        <Button onClick={onDone}>Cancel</Button>
        <Button look="primary" type="submit" disabled={busy}>Create</Button>
      </div>
    </form>
  )
}
