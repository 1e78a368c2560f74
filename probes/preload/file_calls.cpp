// Stands before the functions that open files: a file that is opened to be written while ranks wait shows a
// checkpoint. Nothing is recorded of files that are only read.
#include <fcntl.h>
#include <sys/stat.h>

#include <cstdarg>
#include <cstdio>

#include "probes/preload/original.h"
#include "probes/preload/session.h"

namespace {

using ddbench::inject::note_file_opened;
using ddbench::inject::original;

bool makes(int flags) {
  return (flags & O_CREAT) != 0 && (flags & O_ACCMODE) != O_RDONLY;
}

bool makes(const char* mode) {
  return mode[0] == 'w' || mode[0] == 'a';
}

int noted(int file, int flags) {
  if (file >= 0 && makes(flags)) note_file_opened();
  return file;
}

FILE* noted(FILE* file, const char* mode) {
  if (file != nullptr && makes(mode)) note_file_opened();
  return file;
}

// What open() takes when it makes a file; it may not be there otherwise.
mode_t mode_of(int flags, std::va_list rest) {
  const bool has_mode = (flags & O_CREAT) != 0 || (flags & O_TMPFILE) == O_TMPFILE;
  return has_mode ? va_arg(rest, mode_t) : 0;
}

}  // namespace

extern "C" {

int open(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return noted(original<&open>()(path, flags, mode), flags);
}

int open64(const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return noted(original<&open64>()(path, flags, mode), flags);
}

int openat(int folder, const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return noted(original<&openat>()(folder, path, flags, mode), flags);
}

int openat64(int folder, const char* path, int flags, ...) {
  std::va_list rest;
  va_start(rest, flags);
  const mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return noted(original<&openat64>()(folder, path, flags, mode), flags);
}

FILE* fopen(const char* path, const char* mode) {
  return noted(original<&fopen>()(path, mode), mode);
}

FILE* fopen64(const char* path, const char* mode) {
  return noted(original<&fopen64>()(path, mode), mode);
}

}  // extern "C"
