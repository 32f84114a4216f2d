#include <string>

#include "app/serve.h"

int main(int argc, char** argv) { return argc == 4 ? qq::app::run_serve(argv[3]) : 2; }
