import { useState, type ReactNode } from 'react'

import { lazyPart } from '../../ui/lazyPart.tsx'

const InviteDialog = lazyPart(() => import('./InviteDialog.tsx'), { over: true })

/** Opens the dialog that makes invites, for one space or for one that the person chooses. */
export function InviteButton({ spaceId, className, children }: { spaceId?: string; className: string; children: ReactNode }) {
  const [open, setOpen] = useState(false)
  return (
    <>
      <button type="button" aria-haspopup="dialog" className={className} onClick={() => setOpen(true)}>{children}</button>
      {open && <InviteDialog {...(spaceId ? { spaceId } : {})} onClose={() => setOpen(false)} />}
    </>
  )
}
