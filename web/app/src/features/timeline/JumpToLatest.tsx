import { unread, type SpaceState } from '@majlis/client'

import { Down } from '../../ui/icons.tsx'

export function JumpToLatest({ space, onGo }: { space: SpaceState; onGo: () => void }) {
  const count = unread(space)
  return (
    <button
      type="button"
      className="absolute right-4 bottom-3 flex animate-rise items-center gap-2 rounded-full border border-line bg-paper-high py-1.5 pr-4 pl-3 text-small shadow-high hover:bg-hover"
      onClick={onGo}
    >
      <Down className="size-4" />
      Jump to latest
      {count > 0 && <span className="font-semibold text-warm">{count} new</span>}
    </button>
  )
}
