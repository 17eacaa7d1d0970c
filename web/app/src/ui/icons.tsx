interface Look {
  strokeWidth?: number
  /** It points along the text, so it is mirrored where text runs from right to left. */
  directed?: boolean
}

const draw = (path: string, { strokeWidth = 1.6, directed = false }: Look = {}) =>
  function Icon({ className = 'size-5' }: { className?: string }) {
    return (
      <svg aria-hidden viewBox="0 0 20 20" fill="none" stroke="currentColor" strokeWidth={strokeWidth} strokeLinecap="round" strokeLinejoin="round" className={directed ? `rtl:-scale-x-100 ${className}` : className}>
        <path d={path} />
      </svg>
    )
  }

export const Back = draw('M12 4 6 10l6 6', { directed: true })
export const Chat = draw('M3 4.500h14v9.500H9l-4 3v-3H3z', { directed: true })
export const Close = draw('M5 5l10 10M15 5 5 15')
export const Copy = draw('M7 7V4.500A1.500 1.500 0 0 1 8.500 3h7A1.500 1.500 0 0 1 17 4.500v7a1.500 1.500 0 0 1-1.500 1.500H13M4.500 7h7A1.500 1.500 0 0 1 13 8.500v7a1.500 1.500 0 0 1-1.500 1.500h-7A1.500 1.500 0 0 1 3 15.500v-7A1.500 1.500 0 0 1 4.500 7z')
export const Down = draw('M10 4v12M5 11l5 5 5-5')
export const Download = draw('M10 3v9M6 8.500l4 4 4-4M4 16.500h12')
export const FileIcon = draw('M5 2.500h6.500L15.500 6.500v11h-10.500zM11.500 2.500v4h4')
export const Question = draw('M10 17.500a7.500 7.500 0 1 0 0-15 7.500 7.500 0 0 0 0 15zM7.800 7.800a2.200 2.200 0 1 1 3.100 2c-.6.3-.9.8-.9 1.400v.3M10 13.800v.1')
export const Eye = draw('M2 10s3-5.500 8-5.500 8 5.500 8 5.500-3 5.500-8 5.500S2 10 2 10zM10 12.200a2.200 2.200 0 1 0 0-4.400 2.200 2.200 0 0 0 0 4.400z')
export const LinkIcon = draw('M8.500 11.500a3 3 0 0 0 4.200 0l2.800-2.800a3 3 0 0 0-4.200-4.200l-1 1M11.500 8.500a3 3 0 0 0-4.200 0L4.500 11.300a3 3 0 0 0 4.200 4.200l1-1')
export const More = draw('M4.500 10h.01M10 10h.01M15.500 10h.01', { strokeWidth: 2.4 })
export const Paperclip = draw('M15.500 9.500 9.800 15.200a3.500 3.500 0 0 1-5-5l6.200-6.200a2.400 2.400 0 0 1 3.400 3.400L8.300 13.500a1.200 1.200 0 0 1-1.700-1.700l5.200-5.200')
export const Panel = draw('M3 4.500h14v11H3zM12.500 4.500v11', { directed: true })
export const Pencil = draw('M4 16l.800-3.200L13.500 4.100a1.400 1.400 0 0 1 2 0l.400.400a1.400 1.400 0 0 1 0 2L7.200 15.200z')
export const Pin = draw('M12.500 3l4.500 4.500-3 1-3.500 3.500-.500 3.500L4.500 10l3.500-.500L11.500 6zM7.200 12.800 3.500 16.500')
export const Plus = draw('M10 4v12M4 10h12')
export const Trash = draw('M4 6h12M8 6V4h4v2M5.500 6l.700 10h7.600l.700-10M8.500 9v4.500M11.500 9v4.500')
export const Reply = draw('M8 5 3 10l5 5M3 10h8a6 6 0 0 1 6 6', { directed: true })
export const Search = draw('M9 14.500a5.500 5.500 0 1 0 0-11 5.500 5.500 0 0 0 0 11zM13 13l4 4')
export const Send = draw('M10 16V4M5 9l5-5 5 5')
export const Smile = draw('M10 17.500a7.500 7.500 0 1 0 0-15 7.500 7.500 0 0 0 0 15zM6.800 11.800c1.600 2.400 4.800 2.400 6.400 0M7.500 7.800v.1M12.500 7.800v.1')
export const Again = draw('M16 10a6 6 0 1 1-1.800-4.300L16.500 8M16.500 3.500V8H12', { directed: true })
export const Letters = draw('M2.500 15 6.500 5l4 10M3.900 11.500h5.200M17 9.500V15M17 12.300a2.300 2.300 0 1 1-4.600 0 2.300 2.300 0 0 1 4.600 0z')
export const Stop = draw('M6 6h8v8H6z')
export const Receipt = draw('M2.500 10.500 6 14l7-8M9.500 13l1 1 7-8')
