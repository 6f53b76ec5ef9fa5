/** Vite takes styles out of the code and puts them beside it. */
declare module '*.css'
